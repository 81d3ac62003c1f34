"""Links, copies and writes that are on the disk when they return."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from typing import Final

# How file systems say that this file cannot have one more name there.
_NO_HARD_LINK: Final = {
    errno.EACCES,
    errno.EMLINK,
    errno.ENOSYS,
    errno.EOPNOTSUPP,
    errno.EPERM,
    errno.EXDEV,
}


def place(source: Path, target: Path, is_new: bool) -> None:
    """The same file under one more name, or a copy; one that is new is written out as well."""
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in _NO_HARD_LINK:
            raise
        shutil.copyfile(source, target)
        is_new = True
    if is_new:
        flush(target)


def write_durably(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")
    flush(path)


def flush(path: Path) -> None:
    """Waits until a file or a folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def has_same_content(a: Path, b: Path) -> bool:
    """Of small files; one that is not there has the content of none."""
    try:
        return a.read_bytes() == b.read_bytes()
    except FileNotFoundError:
        return False
