"""BatchQueue: batches between the threads of a node and the writer of its recording.

Adding an entry never blocks and never raises. A batch that does not fit is dropped and counted: the
next entry of its link and direction has the number of lost bytes. Batches with other messages than
publications may use a reserve, because later batches depend on them.
"""

from __future__ import annotations

import threading
from collections import deque
from time import time_ns
from typing import Final

from zenlake.limits import RECORDING_QUEUE_BYTES_MAX, RECORDING_RESERVE_BYTES_MAX
from zenlake.recording.filter import LinkFilter
from zenlake.recording.link_packets import LinkPackets, packets_of
from zenlake.recording.packet_headers import End
from zenlake.recording.tracked_link import TrackedLink

OPEN: Final = 0
BATCH: Final = 1
CLOSE: Final = 2

_ENTRY_BYTES: Final = 200
"""The memory of an entry without its batch."""
_URGENT_BYTES: Final = 1 << 20


class Entry:
    """An event on a link, and the bytes of its direction that were lost before it."""

    __slots__ = (
        "data",
        "direction",
        "is_framed",
        "is_plain",
        "kind",
        "link",
        "lost_bytes",
        "lost_plain",
        "time_ns",
    )

    def __init__(
        self,
        kind: int,
        link: LinkRecorder,
        direction: int,
        time_ns: int,
        data: bytes,
        is_plain: bool,
        is_framed: bool,
    ) -> None:
        self.kind = kind
        self.link = link
        self.direction = direction
        self.time_ns = time_ns
        self.data = data
        self.is_plain = is_plain
        self.is_framed = is_framed
        """Whether the data begins with its length prefix."""
        self.lost_bytes = 0
        self.lost_plain = True


class BatchQueue:
    """A bounded queue with many producers (threads of the node) and one consumer (the writer)."""

    def __init__(
        self,
        bytes_max: int = RECORDING_QUEUE_BYTES_MAX,
        reserve_bytes: int = RECORDING_RESERVE_BYTES_MAX,
    ) -> None:
        self._lock = threading.Lock()
        self._entries: deque[Entry] = deque()
        self._bytes_max = bytes_max
        self._reserved_bytes_max = bytes_max + reserve_bytes
        self._bytes = 0
        self._wake = threading.Event()
        self._urgent = threading.Event()
        self._is_waiting = False
        self.is_closed = False
        """Whether new entries are refused."""
        self.added_packets = 0
        self.dropped_packets = 0
        self.dropped_bytes = 0

    def add(self, entry: Entry, packets: int) -> bool:
        """Append an entry. Returns False, and counts its packets as dropped, if it does not fit."""
        size = len(entry.data) + _ENTRY_BYTES
        with self._lock:
            queued = self._bytes + size
            limit = self._bytes_max if entry.is_plain else self._reserved_bytes_max
            if queued > limit or self.is_closed:
                self.dropped_packets += packets
                self.dropped_bytes += len(entry.data)
                return False
            self._bytes = queued
            self.added_packets += packets
            self._entries.append(entry)
            is_waiting, self._is_waiting = self._is_waiting, False
        if is_waiting:
            self._wake.set()
        if queued >= _URGENT_BYTES and not self._urgent.is_set():
            self._urgent.set()
        return True

    def wait(self, timeout_s: float, gather_s: float) -> None:
        """Called by the writer: wait for an entry, then up to `gather_s` for more."""
        with self._lock:
            self._is_waiting = not self._entries and not self.is_closed
        if self._is_waiting:
            self._wake.wait(max(0.0, timeout_s))
            self._wake.clear()
        if self._entries and not self.is_closed:
            self._urgent.wait(gather_s)
        self._urgent.clear()

    def pop(self, bytes_max: int) -> list[Entry]:
        """Called by the writer: remove and return the next entries, of about `bytes_max` bytes."""
        popped: list[Entry] = []
        size = 0
        entries = self._entries
        while entries and size < bytes_max:
            entry = entries.popleft()
            size += len(entry.data) + _ENTRY_BYTES
            popped.append(entry)
        with self._lock:
            self._bytes -= size
        return popped

    def close(self) -> None:
        """Refuse new entries, and wake the writer."""
        with self._lock:
            self.is_closed = True
        self._wake.set()
        self._urgent.set()


class LinkRecorder:
    """The tap of one link (`protocol.tap.LinkTap`)."""

    __slots__ = (
        "_is_closed",
        "_lost_bytes",
        "_lost_plain",
        "_own",
        "_queue",
        "ends",
        "filter",
        "is_group",
        "is_scouting",
        "is_stream",
        "packets",
        "tracked",
    )

    def __init__(
        self,
        queue: BatchQueue,
        ends: tuple[End, End],
        is_stream: bool,
        own: int,
        is_group: bool = False,
        is_scouting: bool = False,
    ) -> None:
        self._queue = queue
        self._own = own
        """The direction in which this node sends."""
        self._is_closed = False
        self._lost_bytes = [0, 0]
        self._lost_plain = [True, True]
        self.ends = ends
        self.is_stream = is_stream
        self.is_group = is_group
        self.is_scouting = is_scouting
        """Whether this object exists for one scouting datagram, which belongs to no link."""
        # Used by the writer only:
        self.tracked: TrackedLink | None = None
        self.packets: LinkPackets | None = None
        self.filter: LinkFilter | None = None
        opening = 3 if is_stream else 0
        if is_scouting:
            return
        if not queue.add(Entry(OPEN, self, 0, time_ns(), b"", False, False), opening):
            self._is_closed = True

    def received(self, batch: bytes, is_plain: bool) -> None:
        self._add(1 - self._own, batch, is_plain, False)

    def sent(self, unit: bytes, is_plain: bool) -> None:
        self._add(self._own, unit, is_plain, self.is_stream)

    def _add(self, direction: int, data: bytes, is_plain: bool, is_framed: bool) -> None:
        if self._is_closed:
            return
        entry = Entry(BATCH, self, direction, time_ns(), data, is_plain, is_framed)
        size = len(data) if is_framed or not self.is_stream else len(data) + 2
        lost = self._lost_bytes[direction]
        if lost:
            entry.lost_bytes = lost
            entry.lost_plain = self._lost_plain[direction]
        if not self._queue.add(entry, packets_of(size)):
            self._lost_bytes[direction] = lost + size
            self._lost_plain[direction] = self._lost_plain[direction] and is_plain
        elif lost:
            self._lost_bytes[direction] = 0
            self._lost_plain[direction] = True

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        entry = Entry(CLOSE, self, 0, time_ns(), b"", False, False)
        self._queue.add(entry, 3 if self.is_stream else 0)

    def lost_bytes(self, direction: int) -> int:
        """Called by the writer when the link has closed: the bytes lost after the last entry."""
        return self._lost_bytes[direction]
