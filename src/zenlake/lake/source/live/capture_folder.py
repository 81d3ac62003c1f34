"""CaptureFolder: rotated captures (`tcpdump -G`, `dumpcap -b`), of which the last one grows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from struct import Struct
from typing import Final

from zenlake.capture import pcap, pcapng
from zenlake.capture.files import packets
from zenlake.capture.input import Input
from zenlake.capture.packet import Skipped
from zenlake.errors import CaptureError
from zenlake.lake.errors import LakeError
from zenlake.lake.plan.file_search import FileChoice, files_in
from zenlake.lake.source.live.live_files import Cut, FileWindow, LiveFile, name_of_capture
from zenlake.limits import CAPTURE_BLOCK_BYTES_MAX, PACKET_BYTES_MAX

_COMPRESSED_MAGICS: Final = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
_PCAP_HEADER_BYTES: Final = 24
_PACKET_BLOCKS: Final = frozenset((pcapng.PACKET, pcapng.SIMPLE_PACKET, pcapng.OLD_PACKET))


class CaptureFolder:
    """Captures in the order of their first packets, as a `LiveFolder`."""

    recording: str | None = None

    def __init__(self, path: str, capture: str) -> None:
        self._path = path
        self.capture = capture
        self._first_ns: dict[str, int] = {}

    def files(self) -> list[LiveFile]:
        found: list[tuple[int, str, str]] = []
        for path in files_in(self._path, FileChoice()):
            name = name_of_capture(path)
            first_ns = self._time_of_first_packet(path)
            if first_ns is not None and all(name != other for _, other, _ in found):
                found.append((first_ns, name, path))
        found.sort()
        last = len(found) - 1
        return [
            LiveFile(name, path, 0, place < last) for place, (_, name, path) in enumerate(found)
        ]

    def _time_of_first_packet(self, path: str) -> int | None:
        """None if the file has no packet yet."""
        if path not in self._first_ns:
            found = packets((path,), Skipped())
            try:
                first = next(found, None)
            except CaptureError:
                if os.path.exists(path) and os.path.getsize(path) > _PCAP_HEADER_BYTES:
                    raise
                # The file was just created or removed.
                return None
            finally:
                found.close()
            if first is None:
                return None
            self._first_ns[path] = first.time_ns
        return self._first_ns[path]

    def end_of(self, file: LiveFile, files: list[LiveFile]) -> Cut | None:
        """None: a capture does not contain the number of its packets."""
        return None

    def state_at(self, file: LiveFile, position: int) -> bytes:
        """Empty: earlier packets are read instead (`CaptureReader`)."""
        return b""

    def cuts(self, file: LiveFile, position: int, packet: int) -> Iterator[Cut]:
        try:
            with open(file.path, "rb") as opened:
                head = opened.read(12)
        except OSError as error:
            raise LakeError.from_os(error, file.path) from None
        if head.startswith(_COMPRESSED_MAGICS):
            # Nothing is appended to a compressed file: it is read to its end in one batch.
            yield _end_of_compressed(file.path)
            return
        window = FileWindow(file.path, position)
        try:
            if head[:4] == pcapng.MAGIC:
                yield from _pcapng_cuts(window, position, packet, head, file.is_complete)
            else:
                yield from _pcap_cuts(window, position, packet, head, file.is_complete)
        finally:
            window.close()


def _end_of_compressed(path: str) -> Cut:
    """The end of a compressed capture: the position counts uncompressed bytes, so that it does not
    change when a capture is compressed."""
    number, time_ns = 0, 0
    for found in packets((path,), Skipped()):
        number, time_ns = found.number, found.time_ns
    input = Input(path, Skipped())
    try:
        size = input.drain()
    finally:
        input.close()
    return Cut(size, number, time_ns, True)


def _pcap_cuts(
    window: FileWindow, position: int, packet: int, head: bytes, is_complete: bool
) -> Iterator[Cut]:
    if head[:4] not in pcap.MAGICS:
        return
    order, second = pcap.MAGICS[head[:4]]
    record = Struct(order + "IIII")
    place = position or _PCAP_HEADER_BYTES
    while True:
        start = place - window.base
        if start + 16 <= len(window.buffer):
            seconds, part, captured, _ = record.unpack_from(window.buffer, start)
            if captured > PACKET_BYTES_MAX:
                # Damage: the reader reads the rest when the file is complete.
                break
            if start + 16 + captured <= len(window.buffer):
                place += 16 + captured
                packet += 1
                time_ns = seconds * 1_000_000_000 + part * 1_000_000_000 // second
                yield Cut(place, packet, time_ns, True)
                continue
        if not window.refill(place):
            break
    if is_complete:
        yield _end_of_file(window, place, packet)


def _pcapng_cuts(
    window: FileWindow, position: int, packet: int, head: bytes, is_complete: bool
) -> Iterator[Cut]:
    order = pcapng.ORDERS.get(head[8:12], "<")
    place = position
    time_ns = 0
    while True:
        start = place - window.base
        if start + 12 <= len(window.buffer):
            if window.buffer.startswith(pcapng.MAGIC, start):
                order = pcapng.ORDERS.get(window.buffer[start + 8 : start + 12], order)
            type, length = Struct(order + "II").unpack_from(window.buffer, start)
            if length & 3 or not 12 <= length <= CAPTURE_BLOCK_BYTES_MAX:
                break
            if start + length <= len(window.buffer):
                place += length
                if type in _PACKET_BLOCKS:
                    packet += 1
                    yield Cut(place, packet, time_ns, True)
                continue
        if not window.refill(place):
            break
    if is_complete:
        yield _end_of_file(window, place, packet)


def _end_of_file(window: FileWindow, place: int, packet: int) -> Cut:
    """The end of a complete file, whose rest may be damaged."""
    while window.refill(place):
        place = window.base + len(window.buffer)
    return Cut(max(place, window.base + len(window.buffer)), packet, 0, True)
