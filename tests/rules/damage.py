"""Damaged captures: packets of a capture are missing, reordered or repeated."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.capture.capture_file import load, write_capture
from zenlake.capture.packet import Packet

Packets = list[Packet]
Way = Callable[[Packets, Random], Packets]


def few_are_missing(found: Packets, random: Random) -> Packets:
    for _ in range(random.randint(1, 3)):
        found.pop(random.randrange(len(found)))
    return found


def many_are_missing(found: Packets, random: Random) -> Packets:
    return [one for one in found if random.random() > 0.1]


def it_begins_late(found: Packets, random: Random) -> Packets:
    return found[random.randrange(len(found)) :]


def it_ends_early(found: Packets, random: Random) -> Packets:
    return found[: random.randrange(1, len(found))]


def packets_are_cut(found: Packets, random: Random) -> Packets:
    return [
        Packet(one.number, one.time_ns, one.link_type, one.data[:90], len(one.data))
        for one in found
    ]


def some_come_twice(found: Packets, random: Random) -> Packets:
    return [again for one in found for again in [one] * (2 if random.random() < 0.1 else 1)]


def neighbours_change_places(found: Packets, random: Random) -> Packets:
    for _ in range(5):
        at = random.randrange(len(found) - 1)
        found[at], found[at + 1] = found[at + 1], found[at]
    return found


DAMAGE: list[Way] = [
    few_are_missing,
    many_are_missing,
    it_begins_late,
    it_ends_early,
    packets_are_cut,
    some_come_twice,
    neighbours_change_places,
]


def damaged(path: Path, target: Path, damage: Way, seed: int) -> Path:
    return write_capture(target, damage(load(path), Random(seed)))
