"""Captures in a store: planning reads their first bytes, tasks copy those that they read whole.

Tasks that read a split read its ranges from the store, without a copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from typing import Final

from zenlake.errors import CaptureError
from zenlake.lake.address import is_stored, parse
from zenlake.lake.errors import LakeError, cause_of
from zenlake.lake.jobs import Job
from zenlake.lake.stored_files import fetch

_HEAD_BYTES: Final = 256 << 10
"""Enough to see whether a file is a capture: zstd decompresses blocks of up to 128 KiB."""
_COPY: Final = "capture"


def head_of(path: str, folder: Path) -> tuple[int, str]:
    """The size of a capture, and a local file with its first bytes; FileNotFoundError."""
    address = parse(path)
    with address.filesystem.open_input_file(address.fs_path) as file:
        size, head = int(file.size()), file.read(_HEAD_BYTES)
    copied = folder / address.name
    copied.write_bytes(head)
    return size, str(copied)


def exists(job: Job) -> bool:
    """Whether a capture is still in its store."""
    from pyarrow import fs

    address = parse(job["path"])
    try:
        info = address.filesystem.get_file_info(address.fs_path)
        return bool(info.type == fs.FileType.File)
    except (OSError, ValueError) as error:
        raise LakeError(f"cannot be opened: {cause_of(error)}", job["capture"]) from None


def on_this_machine(job: Job, folder: Path) -> Job:
    """The job with the local path of a capture that it reads whole."""
    if job["split"] is not None or not is_stored(job["path"]):
        return job
    try:
        return {**job, "path": str(fetch(parse(job["path"]), folder / _COPY))}
    except LakeError as error:
        raise LakeError(f"cannot be opened: {error.cause}", job["capture"]) from None


@contextmanager
def named_as_given(path: str, capture: str) -> Iterator[None]:
    """Errors of a capture in a store name it as given, not the local copy that was read."""
    try:
        yield
    except CaptureError as error:
        if not is_stored(path):
            raise
        raise CaptureError(capture, error.offset, error.cause) from None


def as_given(text: str, opened: Job, job: Job) -> str:
    """The text of an error with the name as given, not that of a local copy."""
    return text.replace(opened["path"], job["capture"]) if is_stored(job["path"]) else text


def remove_copy(folder: Path) -> None:
    rmtree(folder / _COPY, ignore_errors=True)
