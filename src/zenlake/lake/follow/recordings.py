"""Facts about a recording that a follower needs before it reads it."""

from __future__ import annotations

import json
import os
from typing import Final

from zenlake.capture.recordings import MARKER_NAME, is_recording, segments
from zenlake.lake.errors import LakeError

_CAPTURES: Final = (".pcap", ".pcapng", ".pcap.gz", ".pcapng.gz", ".pcap.zst", ".pcapng.zst")


def recording_id(path: str) -> str:
    """The id of a recording; error if the folder is none."""
    if not os.path.isdir(path):
        raise LakeError("there is no such folder", path)
    if not is_recording(path):
        if any(name.endswith(_CAPTURES) for name in os.listdir(path)):
            cause = "a folder of captures cannot be followed, only a recording"
            hint = "zenlake pipeline reads captures; spark.readStream follows them"
            raise LakeError(f"{cause} (zenlake record): {hint}", path)
        raise LakeError(f"the folder is no recording: it has no {MARKER_NAME}", path)
    try:
        with open(os.path.join(path, MARKER_NAME), encoding="utf-8") as file:
            return str(json.load(file)["id"])
    except (OSError, ValueError, KeyError, TypeError):
        raise LakeError(f"{MARKER_NAME} is damaged", path) from None


def is_whole(path: str) -> bool:
    """Whether no segment was deleted yet."""
    found = segments(path)
    return bool(found) and found[0].number == 1


def size_of(path: str) -> int:
    """Bytes of all segments."""
    return sum(_size(one.path) for one in segments(path))


def first_segment(path: str, last: int, bytes_max: int) -> int | None:
    """The segment with which to begin so that a reader knows what it must at the end of `last`.

    None is the first segment: then the reader comes to exactly the same state as one that has read
    the recording as it grew. If that is too much, the state at the start of a later one is used.
    """
    read = [one for one in segments(path) if one.number <= last]
    if not read or read[-1].number < last:
        return None
    size = 0
    for one in reversed(read):
        size += _size(one.path)
        if size > bytes_max:
            return min(one.number + 1, last)
    return None


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0  # deleted or renamed meanwhile
