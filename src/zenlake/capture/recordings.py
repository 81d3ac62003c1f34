"""Recordings: folders of segments, each a pcapng file as `segment_format` describes.

A recording is one capture: its segments in the order of their numbers. A segment that is still
being written has a name that ends in `.part`; it is sealed by a rename.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import Final, NamedTuple

from zenlake.errors import CaptureError

MARKER_NAME: Final = "recording.json"
"""The file that makes a folder a recording."""
GROWING_SUFFIX: Final = ".part"
_SEGMENT_NAME: Final = re.compile(r"(\d{8,18})\.pcapng(\.part)?")


class SegmentFile(NamedTuple):
    """One file of a recording."""

    number: int
    path: str
    is_sealed: bool


def segment_name(number: int) -> str:
    """The name of a sealed segment."""
    return f"{number:08d}.pcapng"


def is_recording(path: str) -> bool:
    return os.path.isfile(os.path.join(path, MARKER_NAME))


def is_growing_segment(path: str) -> bool:
    """Whether a name is that of a segment which is being written."""
    found = _SEGMENT_NAME.fullmatch(os.path.basename(path))
    return found is not None and found[2] is not None


def recording_bytes(folder: str) -> int:
    """The size of all segments. One that is deleted meanwhile counts as empty."""
    size = 0
    for segment in segments(folder):
        with suppress(OSError):
            size += os.path.getsize(current_path(segment))
    return size


def current_path(segment: SegmentFile) -> str:
    """The path of a segment, which may have been sealed since the folder was listed."""
    if segment.is_sealed or os.path.exists(segment.path):
        return segment.path
    return segment.path.removesuffix(GROWING_SUFFIX)


def segments(folder: str) -> list[SegmentFile]:
    """The segments of a recording, in order."""
    try:
        names = os.listdir(folder)
    except OSError as error:
        raise CaptureError(folder, 0, f"cannot be listed: {error.strerror}") from None
    found: dict[int, SegmentFile] = {}
    for name in names:
        match = _SEGMENT_NAME.fullmatch(name)
        if match is None:
            continue
        number, is_sealed = int(match[1]), match[2] is None
        # A rename while the folder is listed may show both names.
        if is_sealed or number not in found:
            found[number] = SegmentFile(number, os.path.join(folder, name), is_sealed)
    return [found[number] for number in sorted(found)]
