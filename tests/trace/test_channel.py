"""Sequence numbers and fragments, compared with a model of the rules (wire reference §6.5, §7)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zenlake.trace.channel import OUTSIDE, STALE, UNKNOWN, Channel, IncompleteMessages
from zenlake.wire import Fragment

MASKS = (0x7F, 0x3FFF, 0x0FFF_FFFF, 0xFFFF_FFFF)


def steps(mask: int) -> st.SearchStrategy[list[int]]:
    """How far each number is ahead of the last one: mostly 1, sometimes anything."""
    near = range(-3, 6)
    edges = (mask >> 1, (mask >> 1) + 1, mask, 0)
    return st.lists(st.sampled_from([*near, *near, *edges, *edges]), max_size=60)


@pytest.mark.parametrize("mask", MASKS)
@settings(max_examples=200)
@given(data=st.data())
def test_accepted_sequence_numbers_are_those_of_a_receiver(mask: int, data: st.DataObject) -> None:
    initial = data.draw(st.integers(0, mask))
    channel = Channel(IncompleteMessages(), (initial - 1) & mask)
    last = (initial - 1) & mask
    for step in data.draw(steps(mask)):
        sn = (last + step) & mask
        gap = (sn - last) & mask
        expected = STALE if gap == 0 or gap > mask >> 1 else gap - 1
        assert channel.accept(sn, mask) == expected
        if expected != STALE:
            last = sn
        assert channel.last_sn == last


@pytest.mark.parametrize("mask", MASKS[:3])
def test_a_number_outside_the_resolution_is_not_accepted(mask: int) -> None:
    channel = Channel(IncompleteMessages(), 0)
    assert channel.accept(mask + 1, mask) == OUTSIDE
    assert channel.last_sn == 0


def test_the_first_number_of_a_capture_is_always_accepted() -> None:
    channel = Channel(IncompleteMessages())
    assert channel.last_sn == UNKNOWN
    assert channel.accept(77, 0x0FFF_FFFF) == 0
    assert channel.accept(80, 0x0FFF_FFFF) == 2


def test_number_skipped_after_fragments_is_not_a_gap() -> None:
    channel = Channel(IncompleteMessages(), 9)
    for sn, more in ((10, True), (11, False)):
        assert channel.accept(sn, 0x7F) == 0
        assert channel.add(Fragment(sn, b"x", more=more, first=sn == 10), 1, 1, 0x7F) is None
    assert channel.pop_message() == b"xx"
    assert channel.accept(13, 0x7F) == 0
    assert channel.accept(15, 0x7F) == 1


class Model:
    """The receiver of §7."""

    def __init__(self, patch: int) -> None:
        self.patch = patch
        self.buffer: list[bytes] = []
        self.expected = 0

    def feed(self, fragment: Fragment) -> bytes | None:
        if self.patch >= 1:
            if fragment.first:
                self.buffer = []
            elif not self.buffer:
                return None
            if fragment.drop:
                self.buffer = []
                return None
        if not self.buffer:
            self.expected = fragment.sn
        if fragment.sn != self.expected:
            self.buffer = []
            return None
        self.buffer.append(fragment.payload)
        self.expected = (fragment.sn + 1) & 0x7F
        if fragment.more:
            return None
        whole, self.buffer = b"".join(self.buffer), []
        return whole


# One choice for all fields, which hypothesis draws ten times as fast as one for each field.
FRAGMENTS = [
    (Fragment(0, b"xyz"[:size], more=more, first=first, drop=drop), ahead)
    for size in (1, 2, 3)
    for more in (True, False)
    for first in (True, False)
    for drop in (False, False, False, True)
    for ahead in (1, 1, 1, 2, 5)
]


@settings(max_examples=500)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=25))
def test_reassembled_messages_are_those_of_a_receiver(schedule: list[tuple[Fragment, int]]) -> None:
    reassembly = IncompleteMessages()
    channel, model = Channel(reassembly), Model(patch=1)
    sn = 100
    for fragment, ahead in schedule:
        sn = (sn + ahead) & 0x7F
        piece = Fragment(
            sn, fragment.payload, more=fragment.more, first=fragment.first, drop=fragment.drop
        )
        ignored = channel.add(piece, 1, 1, 0x7F)
        whole = channel.pop_message() if ignored is None and not piece.more else None
        assert whole == model.feed(piece)
        assert reassembly.held_bytes == sum(map(len, model.buffer))


def test_channels_do_not_mix() -> None:
    reassembly = IncompleteMessages()
    lanes = [Channel(reassembly) for _ in range(16)]
    for part in range(3):
        for number, lane in enumerate(lanes):
            more, first = part < 2, part == 0
            piece = Fragment(part, bytes((number, part)), more=more, first=first)
            assert lane.add(piece, part, 1, 0x7F) is None
    for number, lane in enumerate(lanes):
        assert lane.pop_message() == bytes((number, 0, number, 1, number, 2))
    assert reassembly.held_bytes == 0
