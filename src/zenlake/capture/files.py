"""Files: the packets of one or more capture files, or of a recording, read as one capture.

The first bytes decide the format, never the name. A file that is no capture raises
`CaptureError`; damage after its header never does, and is counted instead.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterable
from typing import Final

from zenlake.capture import pcap, pcapng, segment_reader
from zenlake.capture.input import Input
from zenlake.capture.packet import Packet, Skipped
from zenlake.capture.pcap import PcapReader
from zenlake.capture.pcapng import Comments, PcapngReader
from zenlake.capture.recordings import GROWING_SUFFIX, is_growing_segment, is_recording, segments
from zenlake.capture.segment_reader import SegmentReader, begins_segment
from zenlake.errors import CaptureError

HARMLESS: Final = frozenset(
    (
        pcapng.UNKNOWN_BLOCK,
        pcapng.COMMENTS_LEFT_OUT,
        segment_reader.DROPPED,
        segment_reader.REMOVED,
    )
)
"""Reasons to skip a part of a file that do not count as damage."""

_NUMBERED: Final = re.compile(r"(.*\.(?:pcap|pcapng|cap|dump|dmp))\d+", re.DOTALL)
_COMPRESSED: Final = re.compile(r"(.*)\.(?:gz|zst)", re.DOTALL)


def packets(
    paths: Iterable[str], skipped: Skipped, comments: Comments | None = None
) -> Generator[Packet, None, None]:
    """All packets in the order of the paths, numbered from 1; the path `-` is standard input.

    Packets of a recording have their numbers in the recording. Those with a number up to 0 are its
    state at the beginning. A caller that stops early calls `close` on the generator, which closes
    the file.
    """
    number = 0
    kept = Comments() if comments is None else comments
    is_first = True
    for path in paths:
        if path != "-" and is_recording(path):
            number = yield from _recording_packets(path, skipped, number, is_first)
        else:
            input = Input(path, skipped)
            try:
                reader = _reader(input, skipped, number, kept, is_first)
                yield from reader.packets()
                number = reader.number
            finally:
                input.close()
        is_first = False


def _recording_packets(
    folder: str, skipped: Skipped, number: int, is_first: bool
) -> Generator[Packet, None, int]:
    """The packets of all segments of a recording; returns the number of the last one."""
    dropped = -1
    for segment in segments(folder):
        input = _open_segment(segment.path, segment.is_sealed, skipped)
        try:
            is_growing = is_growing_segment(input.path)
            reader = SegmentReader(input, skipped, number, is_first, is_growing, dropped)
            yield from reader.packets()
        finally:
            input.close()
        number, dropped, is_first = reader.number, reader.dropped, False
    return number


def _open_segment(path: str, is_sealed: bool, skipped: Skipped) -> Input:
    """Opens a segment, which may have been sealed since the folder was listed."""
    try:
        return Input(path, skipped)
    except CaptureError:
        if is_sealed:
            raise
    return Input(path.removesuffix(GROWING_SUFFIX), skipped)


def _reader(
    input: Input, skipped: Skipped, number: int, comments: Comments, is_first: bool
) -> PcapReader | PcapngReader | SegmentReader:
    if not input.has(0, 4):
        raise CaptureError(input.path, 0, input.problem or "too short for a capture")
    magic = input.buffer[:4]
    if magic in pcap.MAGICS:
        return PcapReader(input, skipped, number)
    if begins_segment(input):
        is_growing = is_growing_segment(input.path)
        return SegmentReader(input, skipped, number, is_first, is_growing)
    if magic == pcapng.MAGIC:
        return PcapngReader(input, skipped, number, comments)
    cause = f"neither pcap nor pcapng: it begins with {magic.hex(' ')}"
    raise CaptureError(input.path, 0, cause)


def rotated(path: str) -> list[str]:
    """The files into which tcpdump rotated one capture, by the times of their first packets.

    `path` is the name given to tcpdump (`x.pcap` with `x.pcap1`, `x.pcap2` beside it) or one
    of the numbered names. The numbers do not give the order: with `-W` tcpdump reuses them. A file
    without bytes was opened and not written to yet; it is left out.
    """
    folder, name = os.path.split(path)
    if match := _COMPRESSED.fullmatch(name):
        name = match[1]
    if match := _NUMBERED.fullmatch(name):
        name = match[1]
    member = re.compile(re.escape(name) + r"(\d*)(?:\.gz|\.zst)?")
    found: list[tuple[int, int, str]] = []
    try:
        names = os.listdir(folder or ".")
    except OSError as error:
        raise CaptureError(path, 0, f"cannot be opened: {error.strerror}") from None
    for entry in names:
        match = member.fullmatch(entry)
        place = os.path.join(folder, entry)
        if match is not None and os.path.isfile(place) and os.path.getsize(place) > 0:
            found.append((_first_time(place), int(match[1] or "0"), place))
    if not found:
        raise CaptureError(path, 0, "no such file, and no rotated files of that name")
    return [place for _, _, place in sorted(found)]


def _first_time(path: str) -> int:
    """The time of the first packet; after all others if there is none."""
    found = packets((path,), Skipped())
    try:
        first = next(found, None)
    finally:
        found.close()
    return 1 << 64 if first is None else first.time_ns
