"""Checks that names in a lake's metadata do not lead outside the lake.

A lake may come from somebody else. Its metadata lists files by name; a name such as
`../../etc/passwd`, an absolute path or a symbolic link would make a reader open other files of
this machine.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from zenlake.lake.errors import LakeError

_TABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def check_table_name(table: str, place: object) -> None:
    """A table's name becomes the name of a folder and of a view: letters, digits and `_` only."""
    if not _TABLE.fullmatch(table):
        raise LakeError(f"the metadata names a table {table[:80]!r}: not a table's name", place)


def check_file_name(name: str, place: object) -> None:
    """Error unless `name`, relative to the folder of a table, stays in that folder.

    This looks at the text alone, so it serves object stores as well. Percent signs must have been
    decoded before.
    """
    parts = name.split("/")
    is_relative = not name.startswith("/") and not _SCHEME.match(name)
    if not is_relative or {"", ".", ".."} & {*parts} or "\\" in name or "\0" in name:
        raise _outside(name, place)


def check_files(folder: Path, files: Iterable[Path]) -> None:
    """Error unless every file is in `folder`, whatever symbolic links its path has.

    A file that does not exist is no error here. Each folder is resolved once, and each file costs
    one `lstat`, because a lake may have tens of thousands of files.
    """
    root = os.path.realpath(folder)
    checked: set[str] = set()
    for file in files:
        if "\0" in str(file):
            raise _outside(str(file), folder)
        parent, name = os.path.split(file)
        if parent not in checked:
            _check_resolved(os.path.realpath(parent), root, file, folder)
            checked.add(parent)
        if name in ("", ".", "..") or os.path.islink(file):
            _check_resolved(os.path.realpath(file), root, file, folder)


def _check_resolved(path: str, root: str, file: Path, folder: Path) -> None:
    if path != root and not path.startswith(os.path.join(root, "")):
        raise _outside(str(file), folder)


def _outside(name: str, place: object) -> LakeError:
    return LakeError(f"the metadata names a file outside the lake: {name[:200]!r}", place)
