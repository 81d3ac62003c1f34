"""Truth: the messages of an undamaged capture, to compare with those of a damaged one."""

from __future__ import annotations

from collections import Counter, defaultdict

from tests.trace.damage import Read
from zenlake.trace import MessageSeen
from zenlake.wire import Frame
from zenlake.wire.message import NetworkMessage

Identity = tuple[str, str, str, bytes]
"""Sender, receiver, kind, bytes."""
RESYNC_UNITS_MAX = 10


def identity(event: MessageSeen) -> Identity:
    """Identifies a message; a FRAME only by its header, because its messages may be missing."""
    message = event.message
    if isinstance(message, Frame):
        data = bytes(Frame(message.sn, [], reliable=message.reliable, qos=message.qos))
    else:
        data = bytes(message)
    return event.sender, event.receiver, event.kind, data


def is_unit(event: MessageSeen) -> bool:
    """Whether it is outside a FRAME: a transport message, or any message with low latency."""
    return event.carrier is None or not isinstance(event.message, NetworkMessage)


class Truth:
    """The messages of a whole capture, by identity and packet."""

    def __init__(self, whole: Read) -> None:
        self.counts: Counter[Identity] = Counter()
        self.keys: defaultdict[Identity, set[str | None]] = defaultdict(set)
        self.keys_at: defaultdict[tuple[Identity, int], set[str | None]] = defaultdict(set)
        self.frames: defaultdict[Identity, list[list[NetworkMessage]]] = defaultdict(list)
        self.units: defaultdict[tuple[str, str], list[tuple[Identity, tuple[int, ...]]]]
        self.units = defaultdict(list)
        self.pairs: set[frozenset[str]] = set()
        self.zids: defaultdict[str, set[str | None]] = defaultdict(set)
        for event in whole.messages:
            self._add(event, whole.packets_of(event))

    def _add(self, event: MessageSeen, packets: tuple[int, ...]) -> None:
        known = identity(event)
        self.counts[known] += 1
        self.keys[known].add(event.key)
        self.keys_at[known, packets[0]].add(event.key)
        if isinstance(event.message, Frame):
            self.frames[known].append(list(event.message.messages))
        if is_unit(event):
            self.units[event.sender, event.receiver].append((known, packets))
        if event.session is not None:
            self.pairs.add(frozenset((event.sender, event.receiver)))
        self.zids[event.sender].add(event.sender_zid)

    def invented(self, found: Read) -> list[str]:
        """Messages of a damaged capture that are not in the whole one."""
        wrong: list[str] = []
        counts: Counter[Identity] = Counter()
        for event in found.messages:
            known = identity(event)
            counts[known] += 1
            packet = found.packets_of(event)[0]
            if counts[known] > self.counts[known] * found.copies(packet):
                wrong.append(f"message in packet {packet}: {event!r}")
                continue
            keys = self.keys_at.get((known, packet)) or self.keys[known]
            if event.key is not None and event.key not in keys:
                wrong.append(f"key in packet {packet}: {event!r}, not {keys}")
            zid = event.sender_zid
            if zid is not None and zid not in self.zids[event.sender]:
                wrong.append(f"sender in packet {packet}: {zid}")
            message = event.message
            if isinstance(message, Frame) and not self._begins_so(known, message):
                wrong.append(f"content in packet {packet}: {event!r}")
        for session in found.trace.sessions:
            ends = frozenset(session.links[0].ends)
            if not session.is_multicast and ends not in self.pairs:
                wrong.append(f"{session!r}")
        return wrong

    def _begins_so(self, known: Identity, frame: Frame) -> bool:
        size = len(frame.messages)
        return any(one[:size] == list(frame.messages) for one in self.frames[known])

    def lost_after(self, found: Read, kept: set[int]) -> list[int]:
        """For each hole, the number of whole units after it that were not found.

        A unit is touched if one of its packets is not among those kept whole.
        """
        here: Counter[Identity] = Counter(identity(e) for e in found.messages if is_unit(e))
        out: list[int] = []
        for units in self.units.values():
            lost, behind = 0, False
            for known, packets in units:
                if not kept.issuperset(packets):
                    if lost:
                        out.append(lost)
                    lost, behind = 0, True
                    continue
                if here[known]:
                    here[known] -= 1
                    if lost or behind:
                        out.append(lost)
                    lost, behind = 0, False
                else:
                    lost += 1
            if lost:
                out.append(lost)
        return out
