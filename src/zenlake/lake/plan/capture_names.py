"""Captures by name: whether one is named like a capture, its size, and whether it opens."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from typing import Final

from zenlake.capture.recordings import is_recording, recording_bytes
from zenlake.errors import LocalError
from zenlake.lake.address import Address, parse
from zenlake.lake.errors import cause_of

CAPTURE_NAME: Final = re.compile(r".*\.(pcap|pcapng|cap)\d*(\.gz|\.zst)?", re.DOTALL)


def _is_recording(address: Address) -> bool:
    return address.is_local and is_recording(address.path)


def size_of(path: str) -> int:
    """The size in bytes; 0 if it is unknown, because reading will report that."""
    address = parse(path)
    try:
        if _is_recording(address):
            return recording_bytes(address.path)
        if address.is_local:
            return os.path.getsize(address.path)
        return int(address.filesystem.get_file_info(address.fs_path).size or 0)
    except OSError:
        return 0


def check_is_file(path: str) -> None:
    """LocalError for a pipe or a device, which opening may wait for, and which has no size."""
    with suppress(OSError):  # opening the file reports it
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise LocalError(f"{path}: a pipe or device, which is read only once: give a file")


def why_not_opened(path: str) -> str | None:
    """Why a capture cannot be opened; None if it can."""
    address = parse(path)
    try:
        if _is_recording(address):
            return None
        if address.is_local:
            check_is_file(address.path)
            with open(address.path, "rb"):
                return None
        with address.filesystem.open_input_file(address.fs_path):
            return None
    except LocalError as error:
        return str(error)
    except OSError as error:
        return f"{path}: cannot be opened: {cause_of(error)}"
