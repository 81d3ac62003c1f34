"""File search: the files in a folder, or those that match a pattern, in any store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from zenlake.errors import LocalError
from zenlake.lake.address import is_stored, split_root
from zenlake.lake.errors import LakeError, cause_of
from zenlake.lake.plan.capture_names import CAPTURE_NAME
from zenlake.lake.plan.glob_patterns import NamePattern, choices, is_hidden, is_pattern
from zenlake.lake.plan.listing import LOCAL_LISTING, Entry, Listing


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

    def admits(self, path: str, listing: Listing = LOCAL_LISTING) -> bool:
        """Whether the options select a file. An unreadable one passes: opening it reports why."""
        if self.name_filter is not None:
            names = name_filter(self.name_filter)
            if not any(name.matches(os.path.basename(path)) for name in names):
                return False
        after, before = self.modified_after_ns, self.modified_before_ns
        if after is None and before is None:
            return True
        modified_ns = listing.modified_ns(path)
        if modified_ns is None:
            return True
        return (after is None or modified_ns > after) and (before is None or modified_ns < before)


@cache
def name_filter(pattern: str) -> list[NamePattern]:
    """Patterns without braces; a file passes if its name matches one of them."""
    return [NamePattern(choice) for choice in choices(pattern)]


def files_in(folder: str, choice: FileChoice, listing: Listing = LOCAL_LISTING) -> list[str]:
    """Files named like captures, or those that match `pathGlobFilter`; never hidden ones."""
    return [
        path
        for path in _files_below(folder, choice.is_recursive, listing)
        if (choice.name_filter is not None or CAPTURE_NAME.fullmatch(path))
        and choice.admits(path, listing)
    ]


def _files_below(folder: str, is_recursive: bool, listing: Listing) -> Iterator[str]:
    """Does not follow symbolic links to folders, which could form a cycle."""
    folders: list[str] = []
    try:
        entries = listing.entries(folder)
    except OSError as error:
        raise LakeError(f"cannot be listed: {cause_of(error)}", folder) from None
    for entry in entries:
        path = os.path.join(folder, entry.name)
        if is_hidden(entry.name):
            continue
        if entry.is_file:
            yield path
        elif is_recursive and entry.is_folder and not entry.is_link:
            folders.append(path)
    for path in folders:
        yield from _files_below(path, is_recursive, listing)


def paths_matching(pattern: str, listing: Listing = LOCAL_LISTING) -> list[str]:
    """Files and folders, in the order of their names."""
    found: dict[str, None] = {}
    for one in choices(pattern):
        root, rest = (
            split_root(one) if is_stored(one) else ("/" if one.startswith("/") else "", one)
        )
        if is_pattern(root):
            raise LocalError(f"{pattern}: the bucket or host of an address is no pattern")
        names = [NamePattern(name) for name in rest.split("/") if name]
        found.update(dict.fromkeys(_matching(root, names, listing)))
    return sorted(found)


def _matching(folder: str, names: list[NamePattern], listing: Listing) -> Iterator[str]:
    if not names:
        yield folder
        return
    name, *rest = names
    if name.literal is not None:
        path = os.path.join(folder, name.literal)
        # Where names follow, a folder that does not exist has none of them.
        if rest or listing.exists(path):
            yield from _matching(path, rest, listing)
        return
    if name.is_deep:
        # `**` matches no folder, or one folder and everything below it.
        yield from _matching(folder, rest, listing) if rest else ()
    for entry in _entries(folder, listing):
        path = os.path.join(folder, entry.name)
        if name.is_deep:
            if not is_hidden(entry.name) and entry.is_folder and not entry.is_link:
                yield from _matching(path, names, listing)
            elif not rest and not is_hidden(entry.name):
                yield path
        elif name.selects(entry.name) and (not rest or entry.is_folder):
            yield from _matching(path, rest, listing)


def _entries(folder: str, listing: Listing) -> list[Entry]:
    """Entries of a folder; none if it is not a folder or not readable, as in Hadoop."""
    try:
        return listing.entries(folder)
    except OSError:
        return []
