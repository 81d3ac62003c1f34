"""Facts about a recording that a follower needs before it reads it."""

from __future__ import annotations

import os
from typing import Final

from zenlake.capture.recordings import MARKER_NAME, is_recording, segments
from zenlake.errors import RecordingError
from zenlake.lake.errors import LakeError
from zenlake.recording import folder

_CAPTURES: Final = (".pcap", ".pcapng", ".pcap.gz", ".pcapng.gz", ".pcap.zst", ".pcapng.zst")


def recording_id(path: str) -> str:
    """The id of a recording; an error if the folder is not a recording."""
    if not os.path.isdir(path):
        raise LakeError("there is no such folder", path)
    if not is_recording(path):
        if any(name.endswith(_CAPTURES) for name in os.listdir(path)):
            cause = "a folder of captures cannot be followed, only a recording"
            hint = "zenlake pipeline reads captures; spark.readStream follows them"
            raise LakeError(f"{cause} (zenlake record): {hint}", path)
        raise LakeError(f"the folder is no recording: it has no {MARKER_NAME}", path)
    try:
        return folder.recording_id(path)
    except RecordingError:
        raise LakeError(f"{MARKER_NAME} is damaged", path) from None


def is_whole(path: str) -> bool:
    """Whether the recording still has its first segment."""
    found = segments(path)
    return bool(found) and found[0].number == 1


def first_segment(path: str, last: int, bytes_max: int) -> int | None:
    """The segment at which a reader starts to have the necessary state at the end of `last`.

    None is the first segment: from there a reader reaches exactly the state of one that read the
    recording while it grew. If that means too many bytes, it starts with the state of a later one.
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
