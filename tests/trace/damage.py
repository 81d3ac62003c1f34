"""Damage: captures with packets missing, cut or wrong, and the events of their traces.

A damaged capture is a list of packets with their numbers in the undamaged capture, so that the
events of both can be compared.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.capture.capture_file import write_capture
from zenlake import trace
from zenlake.capture.packet import Packet
from zenlake.trace import MessageSeen, Trace, TraceEvent

Damage = Callable[[random.Random, list[Packet]], list[Packet]]


class Read:
    """All events of a trace."""

    def __init__(self, path: Path, numbers: Sequence[int] | None = None) -> None:
        self.trace: Trace = trace.open(str(path))
        self.events: list[TraceEvent] = list(self.trace)
        self.messages = [event for event in self.events if isinstance(event, MessageSeen)]
        self._numbers = numbers

    def packets_of(self, event: MessageSeen) -> tuple[int, ...]:
        """The packets of the undamaged capture that carried a message, the last one first."""
        found = (event.packet, *event.earlier_packets)
        numbers = self._numbers
        return found if numbers is None else tuple(numbers[number - 1] for number in found)

    def copies(self, packet: int) -> int:
        """How often a packet of the undamaged capture occurs."""
        return 1 if self._numbers is None else max(self._numbers.count(packet), 1)


def read(folder: Path, damaged: Sequence[Packet]) -> Read:
    """The events of a capture of these packets."""
    path = write_capture(folder / "damaged.pcapng", damaged)
    return Read(path, [packet.number for packet in damaged])


# --- kinds of damage -----------------------------------------------------------------------


def some_missing(chance: random.Random, whole: list[Packet]) -> list[Packet]:
    rate = chance.choice((0.01, 0.03, 0.1, 0.3))
    return [packet for packet in whole if chance.random() >= rate]


def runs_missing(chance: random.Random, whole: list[Packet]) -> list[Packet]:
    kept = list(whole)
    for _ in range(chance.randrange(1, 5)):
        start = chance.randrange(len(kept))
        del kept[start : start + chance.randrange(1, 60)]
    return kept


def late_start(chance: random.Random, whole: list[Packet]) -> list[Packet]:
    return whole[chance.randrange(len(whole)) :]


def one_missing(chance: random.Random, whole: list[Packet]) -> list[Packet]:
    """Drops one packet that is long enough to have a payload."""
    place = chance.choice([i for i, packet in enumerate(whole) if len(packet.data) > 80] or [0])
    return whole[:place] + whole[place + 1 :]


def snapped(chance: random.Random, whole: list[Packet]) -> list[Packet]:
    snap = chance.randrange(60, 400)
    return [cut(packet, snap) for packet in whole]


def some_snapped(chance: random.Random, whole: list[Packet]) -> list[Packet]:
    return [
        cut(packet, chance.randrange(40, 400)) if chance.random() < 0.1 else packet
        for packet in whole
    ]


def mixed(chance: random.Random, whole: list[Packet]) -> list[Packet]:
    """Drops, cuts, repeats and reorders packets."""
    out = some_snapped(chance, some_missing(chance, late_start(chance, whole)))
    for _ in range(len(out) // 20):
        place = chance.randrange(len(out))
        out.insert(min(place + chance.randrange(5), len(out)), out[place])
        out.insert(chance.randrange(max(place - 4, 0), place + 1), out.pop(place))
    return out


DAMAGES: dict[str, Damage] = {
    "one missing": one_missing,
    "some missing": some_missing,
    "runs missing": runs_missing,
    "late start": late_start,
    "snapped": snapped,
    "some snapped": some_snapped,
    "mixed": mixed,
}


def cut(packet: Packet, size: int) -> Packet:
    return Packet(
        packet.number,
        packet.time_ns,
        packet.link_type,
        packet.data[:size],
        packet.original_bytes,
        packet.interface,
    )
