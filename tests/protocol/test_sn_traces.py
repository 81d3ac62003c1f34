"""Which sequence numbers a receiver accepts, compared with a simple, slow model (F07)."""

from __future__ import annotations

import random

import pytest

from tests.chance import IS_FULL
from tests.protocol.transports import SN_BITS, agree, put, transport
from zenlake.protocol.errors import TransportError
from zenlake.wire import Frame

TRACES = 100_000 if IS_FULL else 4_000
STEPS = 12


class Model:
    """Walks the circle of numbers: the half ahead of the last one is new."""

    def __init__(self, first: int, mask: int) -> None:
        self.size = mask + 1
        self.last = (first - 1) % self.size

    def verdict(self, sn: int) -> str:
        if not 0 <= sn < self.size:
            return "dropped"
        ahead = sn - self.last if sn > self.last else sn + self.size - self.last
        if sn == self.last or ahead >= self.size // 2:
            return "stale"
        self.last = sn
        return "taken"


def step(source: random.Random, last: int, mask: int) -> int:
    half = (mask + 1) // 2
    jump = source.choice((1, 1, 1, 2, 0, -1, -2, half - 1, half, half + 1, source.randrange(mask)))
    return (last + jump) & mask


@pytest.mark.parametrize("sn_bits", SN_BITS)
@pytest.mark.parametrize("reliable", [True, False])
def test_verdicts_on_sequence_numbers_are_those_of_the_model(sn_bits: int, reliable: bool) -> None:
    mask = agree(sn_bits=sn_bits).sn_mask
    content = bytes(put(b""))
    for seed in range(TRACES // 8):
        source = random.Random(seed)
        first = source.choice((0, 1, mask, mask // 2, source.randrange(mask)))
        model = Model(first, mask)
        receiver = transport(is_stream=False, sn_bits=sn_bits, peer_sn=first)
        sn = first
        for _ in range(STEPS):
            expected = model.verdict(sn)
            found = receiver.receive(bytes(Frame(sn, [], reliable)) + content, 0.0)
            assert bool(found) == (expected == "taken"), (seed, sn)
            sn = step(source, model.last, mask)


@pytest.mark.parametrize("sn_bits", [8, 16, 32])
def test_number_outside_the_circle_drops_the_link(sn_bits: int) -> None:
    mask = agree(sn_bits=sn_bits).sn_mask
    for sn in (mask + 1, 0xFFFF_FFFF):
        assert Model(0, mask).verdict(sn) == "dropped"
        with pytest.raises(TransportError, match=f"{sn}, at most {mask}"):
            transport(is_stream=False, sn_bits=sn_bits).receive(bytes(Frame(sn, [])), 0.0)


@pytest.mark.parametrize("sn_bits", SN_BITS)
def test_half_of_the_circle_is_new(sn_bits: int) -> None:
    """A gap of half the space less one is accepted, one more is not (wire reference §6.5)."""
    mask = agree(sn_bits=sn_bits).sn_mask
    for gap, expected in ((mask >> 1, True), ((mask >> 1) + 1, False)):
        receiver = transport(is_stream=False, sn_bits=sn_bits, peer_sn=0)
        sn = (mask + gap) & mask
        assert bool(receiver.receive(bytes(Frame(sn, [put(b"x")])), 0.0)) == expected
