"""Replicate: large captures made of copies of real ones, with the same traffic of other nodes.

A copy has the same number of packets of the same lengths as its capture, so that TCP sequence
numbers remain valid. These values are replaced:

- IP addresses of hosts: 10.0.0.0/8 and fd00::/8; multicast groups are kept;
- times of packets and timestamps in messages, by whole seconds;
- ZenohIds wherever their bytes are, and the first chunk of keys. Bytes of a payload change only
  if they look like these. A name that is divided between two segments is kept; `cut_names`
  counts these.

IPv4 header checksums are correct, those of TCP and UDP are zero. Link-layer addresses, ARP, short
ids and addresses in text (locators) are kept. The same captures, seed and number of copies always
produce the same packets.

Copies begin a period apart, so that several overlap. Every packet of a capture therefore occurs
once in each period, at the same place of the order: in the copy that began as many periods before
as the packet's time has (its `lag`). So packets are in the order of time without sorting, and only
the copies that overlap are in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from operator import itemgetter
from typing import Final, NamedTuple

from zenlake.capture.packet import Packet
from zenlake.errors import LocalError
from zenlake.testing.envelopes import Envelope
from zenlake.testing.names import Names
from zenlake.testing.substitutions import Source, Substitutions

_NS_PER_S: Final = 1_000_000_000
_COPIES_AT_A_TIME: Final = 16


class _Planned(NamedTuple):
    """A packet at its place in the order of a period."""

    time_ns: int
    """Time since the beginning of the period."""
    lag: int
    packet: Packet
    places: list[int]
    """Indices of its parts in the list of a period's bytes."""


class Replicas:
    """Copies of one or more captures, mixed: each copy has all packets of all of them."""

    def __init__(self, captures: Sequence[Sequence[Packet]], seed: int = 0) -> None:
        captures = [sorted(packets, key=_time) for packets in captures if packets]
        if not captures:
            raise LocalError("no packets to make copies of")
        self._start_ns = captures[0][0].time_ns
        longest_ns = max(packets[-1].time_ns - packets[0].time_ns for packets in captures)
        period_s = max(1, longest_ns // (_COPIES_AT_A_TIME * _NS_PER_S))
        self._period_ns = period_s * _NS_PER_S
        self._substitutions = Substitutions(period_s, seed)
        self.cut_names = 0
        """How many ids and chunks are divided between TCP segments, and so not replaced."""
        self.short_zids = 0
        """How many ids are too short to be replaced."""
        self._plan = self._planned(captures)
        self._lags = 1 + max(planned.lag for planned in self._plan)

    @property
    def originals(self) -> list[Packet]:
        """The packets of one copy, in the order of a period."""
        return [planned.packet for planned in self._plan]

    def packets(self, copies: int) -> Iterator[Packet]:
        """All packets of `copies` copies in the order of time, numbered from 1."""
        number = 0
        for start_ns, running, pool in self._periods(copies):
            for planned in self._plan:
                if planned.lag in running:
                    number += 1
                    packet, time_ns = planned.packet, start_ns + planned.time_ns
                    data = b"".join([pool[place] for place in planned.places])
                    size = packet.original_bytes
                    yield Packet(number, time_ns, packet.link_type, data, size, packet.interface)

    def records(self, copies: int, envelope: Envelope) -> Iterator[bytes]:
        """The same packets as bytes of a file, one period at a time: far faster than `packets`."""
        yield envelope.head
        around = [part for planned in self._plan for part in envelope.around(planned.packet)]
        ran: range | None = None
        for start_ns, running, pool in self._periods(copies):
            times = envelope.times([start_ns + planned.time_ns for planned in self._plan])
            if running != ran:
                ran = running
                getter = itemgetter(*self._record_places(running, len(pool)))
            yield b"".join(getter(pool + times + around))

    def _planned(self, captures: Sequence[Sequence[Packet]]) -> list[_Planned]:
        cut = []
        for number, packets in enumerate(captures):
            names = Names(packets)
            self.cut_names += names.cut_names
            self.short_zids += len(names.short_zids)
            # Whole seconds: timestamps in messages can only be moved by these.
            shift_s = -((packets[0].time_ns - self._start_ns) // _NS_PER_S)
            source = Source(number, names, shift_s)
            for packet in packets:
                since_ns = packet.time_ns + shift_s * _NS_PER_S - self._start_ns
                lag, time_ns = divmod(since_ns, self._period_ns)
                cut.append((time_ns, lag, packet, self._substitutions.cut(packet, source)))
        cut.sort(key=lambda planned: planned[0])
        shared, size = len(self._substitutions.shared), self._substitutions.values_count()
        places = self._substitutions.places
        return [
            _Planned(time_ns, lag, packet, places(parts, shared + lag * size))
            for time_ns, lag, packet, parts in cut
        ]

    def _periods(self, copies: int) -> Iterator[tuple[int, range, list[bytes]]]:
        """The start of each period, the lags of its copies, and the bytes of all parts."""
        nothing = [b""] * self._substitutions.values_count()
        values = [nothing] * self._lags
        for period in range(copies + self._lags - 1):
            begun = self._substitutions.values(period) if period < copies else nothing
            values = [begun, *values[:-1]]
            running = range(max(0, period - copies + 1), min(period + 1, self._lags))
            pool = self._substitutions.shared + list(chain.from_iterable(values))
            yield self._start_ns + period * self._period_ns, running, pool

    def _record_places(self, running: range, times_start: int) -> Iterator[int]:
        around = times_start + len(self._plan)
        for index, planned in enumerate(self._plan):
            if planned.lag in running:
                first = around + 3 * index
                yield from (first, times_start + index, first + 1, *planned.places, first + 2)


def replicate(packets: Sequence[Packet], copies: int, seed: int = 0) -> Iterator[Packet]:
    """`copies` copies of one capture, in the order of time."""
    return Replicas([packets], seed).packets(copies)


def _time(packet: Packet) -> int:
    return packet.time_ns
