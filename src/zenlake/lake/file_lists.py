"""Lists of files as tasks return them, and the same by table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

File = dict[str, Any]
"""A file that a task wrote: `table`, `path`, `rows`, `size` and `stats`."""
Files = dict[str, list[File]]
"""Files by table."""
Paths = dict[str, list[str]]
"""Paths of files by table."""


def files_by_table(files: Iterable[File]) -> Files:
    found: Files = {}
    for file in files:
        found.setdefault(file["table"], []).append(file)
    return found


def paths_by_table(files: Iterable[File]) -> Paths:
    return {table: paths_of(listed) for table, listed in files_by_table(files).items()}


def paths_of(files: Iterable[File]) -> list[str]:
    return [str(file["path"]) for file in files]


def row_count(files: Iterable[File]) -> int:
    return sum(int(file["rows"]) for file in files)
