"""SegmentWriter: writes the entries of the queue as packets of a recording."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Final

from zenlake.capture.segment_format import FIRST, PLAIN
from zenlake.errors import WireError
from zenlake.limits import BATCH_BYTES_MAX
from zenlake.recording.batch_queue import CLOSE, OPEN, BatchQueue, Entry, LinkRecorder
from zenlake.recording.filter import BatchFilter
from zenlake.recording.folder import RecordingFolder
from zenlake.recording.link_packets import LinkPackets, first_seq
from zenlake.recording.packet_headers import UdpHeaders
from zenlake.recording.segment_output import SegmentOutput
from zenlake.recording.segment_scan import SegmentScan
from zenlake.recording.settings import RecordingSettings
from zenlake.recording.tracked_link import PLAIN_HEAD_BYTES, TrackedLink
from zenlake.wire import decode_scouting

_SMALL_BYTES: Final = 2_048
"""Batches up to this size are copied into their block, which is cheaper than more pieces."""


class SegmentWriter(SegmentOutput):
    """Used by one thread."""

    def __init__(
        self,
        folder: RecordingFolder,
        settings: RecordingSettings,
        queue: BatchQueue,
        filter: BatchFilter | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        super().__init__(folder, settings, queue, clock)
        self._filter = filter
        self._keeps_plain = filter is None or filter.keeps_plain
        self._scouting_datagrams = 0

    def start(self, scan: SegmentScan | None, now_ns: int) -> None:
        """Continue after the last segment; OSError if the first segment cannot be written."""
        if scan is not None:
            self._tracker = scan.tracker
            self.packets = self.synced_packets = scan.packets
            self._last_ns = scan.last_ns
            self._dropped_before = self._reported_dropped = scan.dropped
            gone = self._tracker.end_all(self._clamped(now_ns))
        else:
            gone = []
        self._open_segment()
        for one in gone:
            self._add_packet(one, 0)
        self._flush()
        self._sync()

    # --- entries -------------------------------------------------------------------------

    def write(self, entries: list[Entry]) -> None:
        """Write entries, as far as the disk accepts them."""
        self._prepare()
        for entry in entries:
            if entry.kind == OPEN:
                self._open_link(entry)
            elif entry.kind == CLOSE:
                self._close_link(entry)
            else:
                self._batch(entry)
            if self._is_group_full():
                self._flush()
                self._prepare()
        self._flush()

    def _clamped(self, time_ns: int) -> int:
        """The later of this and the last time: threads overtake each other, clocks are set."""
        if time_ns > self._last_ns:
            self._last_ns = time_ns
        return self._last_ns

    def _open_link(self, entry: Entry) -> None:
        link = entry.link
        now_ns = self._clamped(entry.time_ns)
        seq = first_seq(now_ns)
        packets = link.packets
        if packets is None:
            packets = link.packets = LinkPackets(link.ends, link.is_stream, [seq, seq])
        tracked = self._tracker.open(link.ends, link.is_stream, now_ns, (seq, seq), link.is_group)
        tracked.next_seq = packets.next_seq
        link.tracked = tracked
        link.filter = None if self._filter is None else self._filter.link()
        for one in packets.opening():
            self._add_packet(one, 0)

    def _close_link(self, entry: Entry) -> None:
        link, packets = entry.link, entry.link.packets
        if packets is None or link.tracked is None:
            return
        now_ns = self._clamped(entry.time_ns)
        for direction in (0, 1):
            packets.skip(direction, link.lost_bytes(direction))
        for one in packets.closing():
            self._add_packet(one, 0)
        self._tracker.close(link.tracked, now_ns)
        self._forget_link(link)
        link.packets = None

    def _forget_link(self, link: LinkRecorder) -> None:
        link.tracked = None
        if link.filter is not None:
            link.filter.close()
            link.filter = None

    def _batch(self, entry: Entry) -> None:
        link, direction, data = entry.link, entry.direction, entry.data
        packets, tracked = link.packets, link.tracked
        if packets is None or tracked is None:
            if link.is_scouting:
                self._scouting(entry)
                return
            if not link.is_group:
                return
            # The sender left the group with a CLOSE and sends again: its packet count continues.
            self._open_link(entry)
            packets, tracked = link.packets, link.tracked
            if packets is None or tracked is None:
                return
        now_ns = self._clamped(entry.time_ns)
        if entry.lost_bytes:
            packets.skip(direction, entry.lost_bytes)
            tracked.lose(direction)
            if link.filter is not None:
                link.filter.lost(direction, entry.lost_plain)
        flags = PLAIN if entry.is_plain else 0
        prefix_bytes = tracked.prefix_bytes(direction)
        is_framed = entry.is_framed
        if entry.is_plain and self._keeps_plain and tracked.reads_heads(direction):
            # Most batches have only publications: only their beginning is examined.
            start = prefix_bytes if is_framed else 0
            content = data[start : start + PLAIN_HEAD_BYTES]
            self._tracker.batch(tracked, direction, content, flags, now_ns)
            prefix = b""
            if prefix_bytes and not is_framed:
                prefix = len(data).to_bytes(prefix_bytes, "little")
            self._add_batch(packets, direction, prefix, data, flags | FIRST)
            return
        content = data[prefix_bytes:] if is_framed else data
        if link.filter is not None:
            changed = link.filter.batch(direction, content, flags)
            if changed is None:
                _leave_out(packets, tracked, direction, prefix_bytes + len(content))
                return
            if content and not changed[0]:
                return
            if changed[0] is not content:
                content, is_framed = changed[0], False
                data = content
            flags = changed[1]
        if len(content) > BATCH_BYTES_MAX:  # no link carries such a batch
            self._failed_packets += 1
            _leave_out(packets, tracked, direction, prefix_bytes + len(content))
            return
        prefix = b""
        if prefix_bytes and not is_framed:
            prefix = len(content).to_bytes(prefix_bytes, "little")
        self._tracker.batch(tracked, direction, content, flags, now_ns)
        self._add_batch(packets, direction, prefix, data, flags | FIRST)
        if link.is_group and tracked.is_over:
            self._forget_link(link)

    def _scouting(self, entry: Entry) -> None:
        """Record SCOUT and HELLO. Other bytes are dropped: no rule can be applied to them."""
        data = entry.data
        try:
            is_whole = decode_scouting(data, 0)[1] == len(data)
        except WireError:
            is_whole = False
        if not is_whole:
            return
        self._clamped(entry.time_ns)
        headers = UdpHeaders(*entry.link.ends)
        headers.count = self._scouting_datagrams
        self._add_packet(headers.header(len(data)) + data, 0)
        self._scouting_datagrams = headers.count

    def _add_batch(
        self, packets: LinkPackets, direction: int, prefix: bytes, data: bytes, flags: int
    ) -> None:
        size = len(prefix) + len(data)
        heads = packets.heads(direction, size)
        if len(heads) > 1:
            data = prefix + data
            for head, start, stop in heads:
                self._add_packet(head + data[start:stop], flags)
                flags &= ~FIRST
            return
        head = heads[0][0] + prefix
        if size <= _SMALL_BYTES:
            self._add_packet(head + data, flags)
            return
        self._add_pieces(head, data, flags)


def _leave_out(packets: LinkPackets, tracked: TrackedLink, direction: int, size: int) -> None:
    """Records a gap in place of a batch that cannot be recorded."""
    packets.skip(direction, size)
    tracked.lose(direction)
