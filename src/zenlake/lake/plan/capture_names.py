"""Capture names: finds the captures in paths and folders, on this machine or in a store."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from zenlake.capture.recordings import is_recording, recording_bytes
from zenlake.errors import LocalError
from zenlake.lake.address import Address, parse
from zenlake.lake.errors import LakeError

CAPTURE_NAME: Final = re.compile(r".*\.(pcap|pcapng|cap)\d*(\.gz|\.zst)?", re.DOTALL)


def captures_in(paths: Iterable[str]) -> list[str]:
    """Each capture once, in the order given; a folder is replaced by the captures in it.

    A recording is a folder and one capture.
    """
    found: dict[str, None] = {}
    for path in paths:
        if path == "-":
            raise LakeError("standard input cannot be read by several tasks: name a file")
        address = parse(path)
        inside = None if _is_recording(address) else _names_inside(address)
        if inside is None:
            found[path] = None
            continue
        chosen = [os.path.join(path, name) for name in inside if CAPTURE_NAME.fullmatch(name)]
        if not chosen:
            raise LakeError(f"no captures in {path}: none is named like *.pcap or *.pcapng")
        found.update(dict.fromkeys(chosen))
    return [*found]


def _is_recording(address: Address) -> bool:
    return address.is_local and is_recording(address.path)


def _names_inside(address: Address) -> list[str] | None:
    """The files in a folder, sorted; None if the address is not a folder."""
    if address.is_local:
        if not os.path.isdir(address.path):
            return None
        names = sorted(os.listdir(address.path))
        return [one for one in names if os.path.isfile(os.path.join(address.path, one))]
    from pyarrow import fs

    try:
        if address.filesystem.get_file_info(address.fs_path).type != fs.FileType.Directory:
            return None
        found = address.filesystem.get_file_info(fs.FileSelector(address.fs_path))
    except OSError as error:
        raise LakeError(f"cannot be opened: {_one_line(error)}", address) from None
    return sorted(one.base_name for one in found if one.type == fs.FileType.File)


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
        return f"{path}: cannot be opened: {error.strerror or _one_line(error)}"


def _one_line(error: OSError) -> str:
    return " ".join(str(error).split())
