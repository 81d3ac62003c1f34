"""Random schedules of segments, against a reassembler of a few lines."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from tests.capture.tcp_capture import BACK, MASK, Capture, Part
from zenlake.capture.stream_events import StreamBytes, StreamClosed
from zenlake.capture.transport import ACK, FIN, SYN


class Reference:
    """A reassembler too simple to be wrong: the first value of each byte, None if it was cut."""

    def __init__(self) -> None:
        self.known: dict[int, int | None] = {}
        self.numbers: dict[int, int] = {}

    def add(self, start: int, data: bytes, missing: int, number: int) -> None:
        for i, byte in enumerate(data):
            self.known.setdefault(start + i, byte)
        for i in range(missing):
            self.known.setdefault(start + len(data) + i, None)
        for i in range(len(data) + missing):
            self.numbers.setdefault(start + i, number)

    def complete_at(self, start: int, end: int) -> list[int]:
        """The packet that completed the stream since the last missing byte, for each byte."""
        out = []
        number = 0
        for place in range(start, end):
            number = max(number, self.numbers[place]) if place in self.numbers else 0
            if self.known.get(place) is not None:
                out.append(number)
        return out

    def parts(self, start: int, end: int) -> list[Part]:
        out: list[Part] = []
        for place in range(start, end):
            byte = self.known.get(place)
            last = out[-1] if out else None
            if byte is not None:
                if isinstance(last, bytes):
                    out[-1] = last + bytes((byte,))
                else:
                    out.append(bytes((byte,)))
                continue
            cause = "snaplen" if place in self.known else "missing"
            if isinstance(last, tuple) and last[1] == cause:
                assert last[0] is not None
                out[-1] = (last[0] + 1, cause)
            else:
                out.append((1, cause))
        return out


def schedule(rng: random.Random, size: int) -> list[tuple[int, bytes, int]]:
    """Segments (place, bytes, cut bytes) as a bad network and a bad capture have them."""
    stream = rng.randbytes(size)
    out = []
    place = 0
    while place < size:
        end = min(size, place + rng.randrange(1, 60))
        start = max(0, place - rng.choice([0, 0, 0, 0, 5, 40]))
        data = bytearray(stream[start:end])
        if rng.random() < 0.1:
            data[rng.randrange(len(data))] ^= rng.randrange(1, 256)
        cut = rng.randrange(len(data)) if rng.random() < 0.1 else 0
        if rng.random() > 0.08:
            out.append((start, bytes(data[: len(data) - cut]), cut))
        if rng.random() < 0.1:
            out.append((start, bytes(data[: len(data) - cut]), cut))
        place = end
    for _ in range(rng.randrange(8)):
        i = rng.randrange(len(out)) if out else 0
        out[i:i] = [out.pop(rng.randrange(len(out)))] if out else []
    if rng.random() < 0.2:
        rng.shuffle(out)
    return out


@pytest.mark.parametrize("seed", range(0, 3_000, 100))
def test_streams_agree_with_the_reference(seed: int) -> None:
    for one in range(seed, seed + 100):
        check_against_reference(random.Random(one))


def check_against_reference(rng: random.Random) -> None:
    size = rng.randrange(1, 900)
    base = rng.choice([1, 0x7FFFFF00, MASK - rng.randrange(1_000), rng.randrange(1 << 32)])
    segments = schedule(rng, size)
    has_syn, has_fin = rng.random() < 0.7, rng.random() < 0.5
    capture, reference = Capture(), Reference()
    first = 0
    if has_syn:
        capture.feed(base - 1, flags=SYN)
    elif segments:
        first = segments[0][0]
    fin_at = rng.randrange(len(segments) + 1) if has_fin and (has_syn or segments) else -1
    for i, (start, data, missing) in enumerate(segments):
        if i == fin_at and (has_syn or i):
            capture.feed(base + size, flags=FIN | ACK)
        capture.feed(base + start, data, missing=missing)
        reference.add(start, data, missing, capture.number)
    if fin_at >= 0:
        capture.feed(base + size, flags=FIN | ACK)
    capture.end()
    end = size if fin_at >= 0 else max(reference.known, default=first - 1) + 1
    assert capture.parts() == reference.parts(first, end)
    closed = [event.cause for event in capture.events if isinstance(event, StreamClosed)]
    assert closed == (["fin"] if fin_at >= 0 else ["end"] if has_syn or segments else [])
    numbers = []
    for event in capture.events:
        if isinstance(event, StreamBytes):
            numbers += [event.number] * len(event.data)
    assert numbers == reference.complete_at(first, end)


@pytest.mark.parametrize("seed", range(300))
def test_with_acknowledgements_nothing_is_invented_and_every_gap_is_reported(seed: int) -> None:
    rng = random.Random(seed)
    size = rng.randrange(2_000, 20_000)
    stream = rng.randbytes(size)
    base = MASK - rng.randrange(20_000)
    capture = Capture()
    capture.feed(base - 1, flags=SYN)
    capture.feed(70, flags=SYN | ACK, ack=base, ends=BACK)
    cuts = sorted({0, size, *(rng.randrange(size) for _ in range(size // 50))})
    segments = [(a, b) for a, b in pairwise(cuts) if rng.random() > 0.03]
    for _ in range(len(segments) // 20):
        segments.insert(rng.randrange(len(segments)), segments.pop(rng.randrange(len(segments))))
    highest = 0
    for a, b in segments:
        capture.feed(base + a, stream[a:b], ack=71)
        highest = max(highest, b)
        if rng.random() < 0.3:
            capture.feed(71, ack=base + highest, ends=BACK)
    capture.end()
    place = 0
    for part in capture.parts():
        if isinstance(part, bytes):
            assert part == stream[place : place + len(part)]
            place += len(part)
        else:
            assert part[1] == "missing"
            assert part[0] is not None
            place += part[0]
    assert place == highest
