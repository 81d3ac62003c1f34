"""SegmentOutput: writes blocks to the segments of a folder.

It never raises an error of the disk: packets that cannot be written are counted, the outage is
logged once, and writing continues when the disk accepts it; the first block has the number of
dropped packets. Packet numbers that were not written are reused. The TCP sequence numbers of a link
skip its lost bytes.
"""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Final

from zenlake.capture.segment_format import WIRE, packet_block, packet_pieces, statistics_block
from zenlake.limits import RECORDING_UNSYNCED_BYTES_MAX, RECORDING_UNSYNCED_SECONDS_MAX
from zenlake.recording.batch_queue import BatchQueue
from zenlake.recording.folder import RecordingFolder
from zenlake.recording.segment_file import GrowingSegment, head_blocks
from zenlake.recording.settings import RecordingSettings
from zenlake.recording.state_tracker import StateTracker

log = logging.getLogger("zenlake.recording")

_GROUP_BYTES: Final = 1 << 20
_GROUP_PIECES: Final = 480
_SYNC_S: Final = 0.6 * RECORDING_UNSYNCED_SECONDS_MAX
"""Shorter than the limit, because entries wait in the queue and syncing takes time."""
_RETRY_S: Final = 0.2
_CHECK_DELETED_S: Final = 0.5
_TRIM_S: Final = 5.0


class SegmentOutput:
    """The disk of a recorder. Used by one thread."""

    def __init__(
        self,
        folder: RecordingFolder,
        settings: RecordingSettings,
        queue: BatchQueue,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._folder = folder
        self._settings = settings
        self._queue = queue
        self._clock = clock
        self._tracker = StateTracker()
        """The state after the last added packet, with which the next segment begins."""
        self._segment: GrowingSegment | None = None
        self._next_number = folder.next_number()
        self._begun_at = 0.0
        self._head_bytes = 0
        self._group_bytes = min(_GROUP_BYTES, max(4_096, settings.segment_bytes // 8))
        self._pieces: list[bytes] = []
        self._pieces_bytes = 0
        self._group_packets = 0
        self._last_ns = 0
        self._unsynced_since = 0.0
        self._checked_at = self._trimmed_at = clock()
        self._retry_at = 0.0
        self._outage = ""
        self._is_gone = False
        self._reported_dropped = 0
        self._failed_packets = 0
        self._dropped_before = 0
        self.packets = 0
        """The number of the last packet that was written."""
        self.written_bytes = 0
        self.synced_packets = 0
        """The number of the last packet that is on the disk."""

    @property
    def dropped(self) -> int:
        """Packets of this recording that were not written, those of earlier recorders included."""
        return self._dropped_before + self._failed_packets + self._queue.dropped_packets

    @property
    def failure(self) -> str:
        """Why nothing more is written; empty while the recording goes on."""
        return self._outage if self._is_gone else ""

    # --- packets -------------------------------------------------------------------------

    def _is_group_full(self) -> bool:
        return self._pieces_bytes >= self._group_bytes or len(self._pieces) >= _GROUP_PIECES

    def _add_packet(self, packet: bytes, flags: int) -> None:
        self.packets += 1
        self._group_packets += 1
        block = packet_block(WIRE, self._last_ns, packet, flags, self.packets)
        self._pieces.append(block)
        self._pieces_bytes += len(block)

    def _add_pieces(self, head: bytes, body: bytes, flags: int) -> None:
        """Add a packet of `head` and `body` without copying `body`."""
        self.packets += 1
        self._group_packets += 1
        pieces = packet_pieces(WIRE, self._last_ns, head, body, flags, self.packets)
        self._pieces += pieces
        self._pieces_bytes += len(pieces[0]) + len(body) + len(pieces[2])

    # --- segments ------------------------------------------------------------------------

    def _prepare(self) -> None:
        """Before packets are added: open a segment, which begins with the present state."""
        segment = self._segment
        if segment is not None and self._is_rotation_due(segment):
            self._rotate(segment)
        if self._segment is None and not self._is_gone and self._clock() >= self._retry_at:
            try:
                self._open_segment()
            except OSError as error:
                self._note_outage(error)

    def _is_rotation_due(self, segment: GrowingSegment) -> bool:
        written = segment.size - self._head_bytes
        if not written:
            return False
        # The next segment repeats the state, such as fragments of large messages. A segment holds
        # at least as many bytes of packets, so that states take at most twice the bytes of packets.
        if written >= max(self._settings.segment_bytes, self._head_bytes):
            return True
        return self._clock() - self._begun_at >= self._settings.segment_seconds

    def _open_segment(self) -> None:
        state = self._tracker.packets()
        head = head_blocks(
            self._folder.id,
            self._next_number,
            self.packets,
            state,
            self._tracker.forgotten,
            bool(self._settings.rules),
        )
        segment = GrowingSegment(self._folder.path, self._next_number, self._folder.files)
        try:
            segment.write([head], len(head))
            self._folder.files.sync_folder(self._folder.path)
        except OSError:
            segment.close()
            with suppress(OSError):
                self._folder.files.remove(segment.growing_path)
            raise
        self._segment = segment
        self._next_number += 1
        self._begun_at = self._clock()
        self._head_bytes = len(head)
        self._unsynced_since = self._begun_at

    def _rotate(self, segment: GrowingSegment) -> None:
        try:
            segment.seal(self._last_ns, self.dropped)
        except OSError as error:
            self._note_outage(error)
            if segment.is_missing():
                segment.close()
                self._segment = None
            return
        self._reported_dropped = self.dropped
        self.synced_packets = self.packets
        self._segment = None
        self._trim()

    def _flush(self) -> None:
        if not self._pieces:
            return
        pieces, size, count = self._pieces, self._pieces_bytes, self._group_packets
        self._pieces, self._pieces_bytes, self._group_packets = [], 0, 0
        segment = self._segment
        if segment is not None:
            dropped = self.dropped
            if dropped != self._reported_dropped:
                block = statistics_block(self._last_ns, dropped)
                pieces.insert(0, block)
                size += len(block)
            try:
                if not segment.size > segment.synced_size:
                    self._unsynced_since = self._clock()
                segment.write(pieces, size)
            except OSError as error:
                self._note_outage(error)
            else:
                self._reported_dropped = dropped
                self.written_bytes += size
                self._note_recovery()
                if segment.size - segment.synced_size >= RECORDING_UNSYNCED_BYTES_MAX:
                    self._sync()
                return
        self.packets -= count
        self._failed_packets += count

    def _sync(self) -> None:
        segment = self._segment
        if segment is None or segment.size == segment.synced_size:
            return
        try:
            segment.sync()
            self.synced_packets = self.packets
        except OSError as error:
            # The system may have dropped the unsynced pages: continue in another file.
            self._note_outage(error)
            self._retry_at = 0.0
            segment.abandon()
            self._segment = None

    def tick(self) -> None:
        """Do what is due: sync, start the next segment, delete old segments."""
        now = self._clock()
        segment = self._segment
        if segment is not None:
            is_behind = segment.size > segment.synced_size
            if is_behind and now - self._unsynced_since >= _SYNC_S:
                self._sync()
            if self._segment is not None and self._is_rotation_due(segment):
                self._rotate(segment)
        if now - self._checked_at >= _CHECK_DELETED_S:
            self._checked_at = now
            self._check_deleted()
        if now - self._trimmed_at >= _TRIM_S:
            self._trim()

    def next_deadline(self) -> float:
        """When to call `tick` at the latest."""
        segment = self._segment
        if segment is not None and segment.size > segment.synced_size:
            return min(self._unsynced_since + _SYNC_S, self._checked_at + _CHECK_DELETED_S)
        return self._checked_at + _CHECK_DELETED_S

    def _check_deleted(self) -> None:
        """Check whether the segment was deleted: writes to a deleted file succeed silently."""
        segment = self._segment
        if self._is_gone or segment is None or not segment.is_missing():
            return
        self._failed_packets += self.packets - self.synced_packets
        self.packets = self.synced_packets
        segment.close()
        self._segment = None
        self._is_gone = self._folder.is_missing()
        self._note_outage(OSError(errno.ENOENT, "the folder or its last segment was deleted"))

    def _trim(self) -> None:
        self._trimmed_at = self._clock()
        settings = self._settings
        if settings.keep_bytes is None and settings.keep_seconds is None:
            return
        with suppress(OSError):
            removed = self._folder.trim(settings.keep_bytes, settings.keep_seconds, self._last_ns)
            for name in removed:
                log.debug("%s: %s is deleted, as configured", self._folder.path, name)

    def close(self) -> None:
        """Seal the last segment."""
        self._flush()
        segment = self._segment
        if segment is None:
            return
        try:
            segment.seal(self._last_ns, self.dropped)
            self.synced_packets = self.packets
        except OSError as error:
            self._note_outage(error)
            segment.close()
        self._segment = None

    # --- outages -------------------------------------------------------------------------

    def _note_outage(self, error: OSError) -> None:
        self._retry_at = self._clock() + _RETRY_S
        cause = error.strerror or str(error)
        if self._outage:
            return
        self._outage = cause
        if self._is_gone:
            log.error("recording to %s ends: %s", self._folder.path, cause)
        else:
            log.error(
                "recording to %s is interrupted: %s; it continues when that ends",
                self._folder.path,
                cause,
            )

    def _note_recovery(self) -> None:
        if self._outage:
            self._outage = ""
            self._retry_at = 0.0
            log.warning(
                "recording to %s continues; %d packets were lost so far",
                self._folder.path,
                self.dropped,
            )
