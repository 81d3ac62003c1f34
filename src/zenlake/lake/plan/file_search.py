"""File search: the files in a folder, or those that match a pattern."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from zenlake.lake.errors import LakeError
from zenlake.lake.plan.capture_names import CAPTURE_NAME
from zenlake.lake.plan.glob_patterns import NamePattern, choices, is_hidden


class FileChoice(NamedTuple):
    """Options that choose files: `pathGlobFilter`, `recursiveFileLookup`, `modified...`."""

    name_filter: str | None = None
    is_recursive: bool = False
    modified_after_ns: int | None = None
    modified_before_ns: int | None = None

    @property
    def may_exclude_all(self) -> bool:
        """Whether a folder without a matching file is no error."""
        filters = (self.name_filter, self.modified_after_ns, self.modified_before_ns)
        return any(one is not None for one in filters)

    def admits(self, path: str) -> bool:
        """Whether the options select a file. An unreadable one passes: opening it reports why."""
        if self.name_filter is not None:
            names = name_filter(self.name_filter)
            if not any(name.matches(os.path.basename(path)) for name in names):
                return False
        if self.modified_after_ns is None and self.modified_before_ns is None:
            return True
        try:
            modified_ns = os.stat(path).st_mtime_ns
        except OSError:
            return True
        after, before = self.modified_after_ns, self.modified_before_ns
        return (after is None or modified_ns > after) and (before is None or modified_ns < before)


@cache
def name_filter(pattern: str) -> list[NamePattern]:
    """Patterns without braces; a file passes if its name matches one of them."""
    return [NamePattern(choice) for choice in choices(pattern)]


def files_in(folder: str, choice: FileChoice) -> list[str]:
    """Files named like captures, or those that match `pathGlobFilter`; never hidden ones."""
    return [
        path
        for path in _files_below(folder, choice.is_recursive)
        if (choice.name_filter is not None or CAPTURE_NAME.fullmatch(path)) and choice.admits(path)
    ]


def _files_below(folder: str, is_recursive: bool) -> Iterator[str]:
    """Does not follow symbolic links to folders, which could form a cycle."""
    folders: list[str] = []
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        raise LakeError(f"cannot be listed: {error.strerror}", folder) from None
    for entry in entries:
        path = os.path.join(folder, entry.name)
        if is_hidden(entry.name):
            continue
        if entry.is_file():
            yield path
        elif is_recursive and entry.is_dir(follow_symlinks=False):
            folders.append(path)
    for path in folders:
        yield from _files_below(path, is_recursive)


def paths_matching(pattern: str) -> list[str]:
    """Files and folders, in the order of their names."""
    found: dict[str, None] = {}
    for one in choices(pattern):
        root = "/" if one.startswith("/") else ""
        names = [NamePattern(name) for name in one.split("/") if name]
        found.update(dict.fromkeys(_matching(root, names)))
    return sorted(found)


def _matching(folder: str, names: list[NamePattern]) -> Iterator[str]:
    if not names:
        yield folder
        return
    name, *rest = names
    if name.literal is not None:
        path = os.path.join(folder, name.literal)
        if os.path.lexists(path):
            yield from _matching(path, rest)
        return
    if name.is_deep:
        # `**` matches no folder, or one folder and everything below it.
        yield from _matching(folder, rest) if rest else ()
    for entry in _entries(folder):
        path = os.path.join(folder, entry.name)
        if name.is_deep:
            if not is_hidden(entry.name) and entry.is_dir(follow_symlinks=False):
                yield from _matching(path, names)
            elif not rest and not is_hidden(entry.name):
                yield path
        elif name.selects(entry.name) and (not rest or entry.is_dir()):
            yield from _matching(path, rest)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """Entries of a folder; none if it is not a folder or not readable, as in Hadoop."""
    try:
        with os.scandir(folder or ".") as entries:
            return list(entries)
    except OSError:
        return []
