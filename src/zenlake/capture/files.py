"""Files: the packets of one or more capture files, read as one capture.

The format is told by the first bytes, never by the name. A file that is no capture raises
`CaptureError`; damage after its beginning never does, and is counted instead.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterable
from typing import Final

from zenlake.capture import pcap, pcapng
from zenlake.capture.input import Input
from zenlake.capture.packet import Packet, Skipped
from zenlake.capture.pcap import PcapReader
from zenlake.capture.pcapng import Comments, PcapngReader
from zenlake.errors import CaptureError

HARMLESS: Final = frozenset((pcapng.UNKNOWN_BLOCK, pcapng.COMMENTS_LEFT_OUT))
"""What may be passed over in a file that is as it should be."""

_NUMBERED: Final = re.compile(r"(.*\.(?:pcap|pcapng|cap|dump|dmp))\d+", re.DOTALL)
_COMPRESSED: Final = re.compile(r"(.*)\.(?:gz|zst)", re.DOTALL)


def packets(
    paths: Iterable[str], skipped: Skipped, comments: Comments | None = None
) -> Generator[Packet, None, None]:
    """All packets, numbered through from 1, in the order of the paths; `-` is standard input.

    Who stops before the end calls `close` on what this returns, which closes the file.
    """
    number = 0
    kept = Comments() if comments is None else comments
    for path in paths:
        input = Input(path, skipped)
        try:
            reader = _reader(input, skipped, number, kept)
            yield from reader.packets()
            number = reader.number
        finally:
            input.close()


def _reader(
    input: Input, skipped: Skipped, number: int, comments: Comments
) -> PcapReader | PcapngReader:
    if not input.has(0, 4):
        raise CaptureError(input.path, 0, input.problem or "too short for a capture")
    magic = input.buffer[:4]
    if magic in pcap.MAGICS:
        return PcapReader(input, skipped, number)
    if magic == pcapng.MAGIC:
        return PcapngReader(input, skipped, number, comments)
    cause = f"neither pcap nor pcapng: it begins with {magic.hex(' ')}"
    raise CaptureError(input.path, 0, cause)


def rotated(path: str) -> list[str]:
    """The files that tcpdump made of one, by the times of their first packets.

    `path` is the name given to tcpdump (`x.pcap` with `x.pcap1`, `x.pcap2` beside it) or one
    of the numbered names. Numbers do not give the order: with a bound on their count they are
    used again. A file that was opened but not written to yet has no bytes, and is left out.
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
        raise CaptureError(path, 0, "no such file, nor numbered ones of that name")
    return [place for _, _, place in sorted(found)]


def _first_time(path: str) -> int:
    """The time of the first packet; after all others if there is none."""
    found = packets((path,), Skipped())
    try:
        first = next(found, None)
    finally:
        found.close()
    return 1 << 64 if first is None else first.time_ns
