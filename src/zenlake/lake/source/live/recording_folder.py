"""RecordingFolder: the segments of a recording, and the positions where a batch may end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from struct import Struct
from typing import Final

from zenlake.capture.pcapng import PACKET, SECTION
from zenlake.capture.recordings import segments
from zenlake.capture.segment_format import (
    ENTERPRISE,
    FIRST,
    PLAIN,
    STATE,
    TRAILER_BYTES,
    WIRE,
    is_segment,
    packet_block,
    trailer_of,
)
from zenlake.errors import LocalError, RecordingError
from zenlake.lake.errors import LakeError
from zenlake.lake.source.live.live_files import Cut, FileWindow, LiveFile
from zenlake.limits import CAPTURE_BLOCK_BYTES_MAX, STREAM_HANDSHAKE_SECONDS_MAX
from zenlake.recording.folder import recording_id
from zenlake.recording.state_tracker import StateTracker
from zenlake.wire.headers import CLOSE_ID, ID_BITS, INIT_ID, IS_ANSWER, OPEN_ID

_HEAD: Final = Struct("<II")
_PACKET: Final = Struct("<IIIIIII")
_TRAILER_MARK: Final = Struct("<HHI").pack(19373, 20, ENTERPRISE)
_SECTION_BYTES_MAX: Final = 4_096
_LARGE_BYTES: Final = 60_000
"""The size of the first packet of a batch that is longer than a packet."""
_HANDSHAKES_MAX: Final = 1_024
_TCP: Final = 6
_FIN_RST: Final = 0x05


class RecordingFolder:
    """The segments of a recording, as a `LiveFolder`."""

    def __init__(self, path: str, capture: str) -> None:
        self._path = path
        self.capture = capture
        self.recording: str | None = _id_of(path)
        self._packets_before: dict[str, int] = {}
        self._tracked: _TrackedState | None = None

    def files(self) -> list[LiveFile]:
        files: list[LiveFile] = []
        listed = segments(self._path)
        for one in listed:
            name = f"{one.number:08}"
            before = self._before(name, one.path)
            if before is None:
                # The file was removed after it was listed, or its first block is not written yet.
                continue
            files.append(LiveFile(name, one.path, before, one.is_sealed or one is not listed[-1]))
        return files

    def _before(self, name: str, path: str) -> int | None:
        if name not in self._packets_before:
            try:
                with open(sealed_or_not(path), "rb") as file:
                    head = file.read(_SECTION_BYTES_MAX)
            except OSError:
                return None
            if not is_segment(head):
                return None
            trailer = trailer_of(head, 0, _HEAD.unpack_from(head)[1])
            if trailer is None:
                return None
            self._packets_before[name] = trailer[1]
        return self._packets_before[name]

    def cuts(self, file: LiveFile, position: int, packet: int) -> Iterator[Cut]:
        try:
            window = FileWindow(sealed_or_not(file.path), position)
        except OSError as error:
            raise LakeError.from_os(error, file.path) from None
        try:
            yield from _BlockWalk(window, position, packet, file.is_complete).cuts()
        finally:
            window.close()

    def end_of(self, file: LiveFile, files: list[LiveFile]) -> Cut | None:
        """The last cut of a segment: the next segment has the number of packets before it."""
        place = files.index(file)
        if place + 1 == len(files) or int(files[place + 1].name) != int(file.name) + 1:
            return None
        try:
            size = os.path.getsize(sealed_or_not(file.path))
        except OSError:
            return None
        return Cut(size, files[place + 1].packets_before, 0, True)

    def state_at(self, file: LiveFile, position: int) -> bytes:
        """Blocks of state with which a reader can begin at a position of a segment."""
        tracked = self._tracked
        if tracked is None or tracked.name != file.name or tracked.position > position:
            tracked = self._tracked = _TrackedState(file.name)
        try:
            with open(sealed_or_not(file.path), "rb") as opened:
                opened.seek(tracked.position)
                tracked.feed(opened.read(position - tracked.position))
        except OSError as error:
            raise LakeError.from_os(error, file.path) from None
        packets = tracked.tracker.packets()
        return b"".join(packet_block(STATE, one.time_ns, one.data, one.flags, 0) for one in packets)


class _TrackedState:
    """The state of all links at a position of a segment."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.position = 0
        self.tracker = StateTracker()

    def feed(self, data: bytes) -> None:
        """Applies the following blocks, up to a cut. Damaged ones are skipped, as readers do."""
        start = 0
        while start + 12 <= len(data):
            type, length = _HEAD.unpack_from(data, start)
            stop = start + length
            trailer = None
            if length >= TRAILER_BYTES + 12 and stop <= len(data):
                trailer = trailer_of(data, start, stop)
            if trailer is None:
                mark = data.find(_TRAILER_MARK, start + 1)
                if mark < 0:
                    break
                start = mark + TRAILER_BYTES
                continue
            if type == PACKET:
                _, _, _, high, low, captured, _ = _PACKET.unpack_from(data, start)
                content = data[start + 28 : start + 28 + captured]
                self.tracker.feed_packet(high << 32 | low, content, trailer[0])
            start = stop
        self.position += len(data)


def sealed_or_not(path: str) -> str:
    """The path of a segment, which may have been sealed since it was listed."""
    sealed = path.removesuffix(".part")
    return sealed if os.path.exists(sealed) else path


def _id_of(path: str) -> str:
    try:
        return recording_id(path)
    except RecordingError as error:
        cause = f"does not describe a recording of format 1: {error.cause}"
        raise LocalError(f"{error.path} {cause}") from None


class _BlockWalk:
    """Steps from block to block. Damaged blocks are skipped, as readers do."""

    def __init__(self, window: FileWindow, position: int, packet: int, is_complete: bool) -> None:
        self._window = window
        self._position = position
        self._packet = packet
        self._is_complete = is_complete
        self._time_ns = 0
        self._opening: dict[bytes, int] = {}
        """The start times of unfinished handshakes, by the addresses of their links."""
        self._is_partial = False
        """Whether the batch of the last packet continues in the next packet."""

    def cuts(self) -> Iterator[Cut]:
        window = self._window
        is_new = False
        while True:
            length = self._whole_block()
            if length == 0:
                break
            start = self._position - window.base
            type = _HEAD.unpack_from(window.buffer, start)[0]
            trailer = trailer_of(window.buffer, start, start + length)
            if type == PACKET and trailer is not None:
                interface = _PACKET.unpack_from(window.buffer, start)[2]
                flags, number = trailer
                if interface == WIRE:
                    if is_new and not (self._is_partial and not flags & FIRST):
                        yield self._cut()
                    self._packet = number
                    self._see_packet(start, flags)
                    is_new = True
            elif type == SECTION and self._position and trailer is None:
                break
            self._position += length
        if self._is_complete or (is_new and not self._is_partial):
            yield self._cut()

    def _cut(self) -> Cut:
        if self._opening:
            # A handshake that takes this long has failed.
            limit_ns = self._time_ns - STREAM_HANDSHAKE_SECONDS_MAX * 1_000_000_000
            for link in [one for one, ns in self._opening.items() if ns < limit_ns]:
                del self._opening[link]
        return Cut(self._position, self._packet, self._time_ns, not self._opening)

    def _whole_block(self) -> int:
        """Reads the whole block at the position into the window; returns its length, 0 at the end.

        After damage, the position moves to the next block.
        """
        window = self._window
        while True:
            start = self._position - window.base
            if start + 12 <= len(window.buffer):
                length: int = _HEAD.unpack_from(window.buffer, start)[1]
                if length & 3 or not TRAILER_BYTES + 12 <= length <= CAPTURE_BLOCK_BYTES_MAX:
                    if not self._resynchronise():
                        return 0
                    continue
                stop = start + length
                if stop <= len(window.buffer):
                    if window.buffer[stop - 4 : stop] == window.buffer[start + 4 : start + 8]:
                        return length
                    if not self._resynchronise():
                        return 0
                    continue
            if not window.refill(self._position):
                if self._is_complete and len(window.buffer):
                    # The recorder was killed here.
                    if not self._resynchronise():
                        self._position = window.base + len(window.buffer)
                        return 0
                    continue
                return 0

    def _resynchronise(self) -> bool:
        """Moves to the next block whose checksum is right; False if there is none yet."""
        window = self._window
        begin = self._position + 1
        while True:
            found = window.buffer.find(_TRAILER_MARK, begin - window.base)
            if found < 0:
                begin = max(begin, window.base + len(window.buffer) - len(_TRAILER_MARK))
                if window.refill(self._position):
                    continue
                if self._is_complete:
                    self._position = window.base + len(window.buffer)
                return False
            place = window.base + found + TRAILER_BYTES
            if self._is_block(place):
                self._position = place
                return True
            begin = window.base + found + 1

    def _is_block(self, place: int) -> bool:
        window = self._window
        while True:
            start = place - window.base
            if start + 8 <= len(window.buffer):
                length = _HEAD.unpack_from(window.buffer, start)[1]
                if length > CAPTURE_BLOCK_BYTES_MAX:
                    return False
                if start + length <= len(window.buffer):
                    return trailer_of(window.buffer, start, start + length) is not None
            if not window.refill(self._position):
                return False

    def _see_packet(self, start: int, flags: int) -> None:
        buffer = self._window.buffer
        _, _, _, high, low, captured, _ = _PACKET.unpack_from(buffer, start)
        self._time_ns = high << 32 | low
        if captured < _LARGE_BYTES and flags & PLAIN:
            self._is_partial = False
            return
        first = start + 28
        link, protocol, payload, is_end = _link_of(buffer, first, first + captured)
        if flags & FIRST:
            self._is_partial = False
            if captured >= _LARGE_BYTES and protocol == _TCP:
                size = int.from_bytes(buffer[payload : payload + 2], "little")
                self._is_partial = first + captured - payload < 2 + size
        elif self._is_partial:
            self._is_partial = False
            return
        if is_end:
            self._opening.pop(link, None)
        if flags & PLAIN or not flags & FIRST:
            return
        place = payload + 2 if protocol == _TCP else payload
        if place < first + captured:
            header = buffer[place]
            kind = header & ID_BITS
            if kind == INIT_ID and len(self._opening) < _HANDSHAKES_MAX:
                self._opening.setdefault(link, self._time_ns)
            elif kind == CLOSE_ID or (kind == OPEN_ID and header & IS_ANSWER):
                self._opening.pop(link, None)


def _link_of(buffer: bytes, start: int, stop: int) -> tuple[bytes, int, int, bool]:
    """Addresses in a fixed order, protocol, the place of the payload, whether it is FIN or RST."""
    if stop - start < 28:
        return b"", 0, stop, False
    if buffer[start] >> 4 == 4:
        transport = start + (buffer[start] & 15) * 4
        protocol = buffer[start + 9]
        ends = buffer[start + 12 : start + 16], buffer[start + 16 : start + 20]
    else:
        transport = start + 40
        protocol = buffer[start + 6]
        ends = buffer[start + 8 : start + 24], buffer[start + 24 : start + 40]
    if (transport + 14 > stop and protocol == _TCP) or transport + 8 > stop:
        return b"", 0, stop, False
    sides = (
        ends[0] + buffer[transport : transport + 2],
        ends[1] + buffer[transport + 2 : transport + 4],
    )
    link = b"".join(sorted(sides))
    if protocol != _TCP:
        return link, protocol, transport + 8, False
    payload = transport + (buffer[transport + 12] >> 4) * 4
    return link, protocol, min(payload, stop), bool(buffer[transport + 13] & _FIN_RST)
