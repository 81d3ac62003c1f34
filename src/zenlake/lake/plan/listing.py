"""Listings: what a folder contains, on this machine or in a store.

Paths are as the user wrote them, with the scheme of a store; names in a folder are added to them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from zenlake.capture.recordings import MARKER_NAME, is_recording
from zenlake.lake.address import is_stored, parse
from zenlake.lake.errors import LakeError, cause_of

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, FileSystem


class Entry(NamedTuple):
    """A name in a folder."""

    name: str
    is_file: bool
    is_folder: bool
    """Also of a link to a folder."""
    is_link: bool = False


class Listing(Protocol):
    """Facts about paths. A store that does not answer is a LakeError."""

    def entries(self, folder: str) -> list[Entry]:
        """What the folder contains, by name; OSError if it is no folder or not readable."""
        ...

    def exists(self, path: str) -> bool: ...

    def is_folder(self, path: str) -> bool: ...

    def is_recording(self, path: str) -> bool: ...

    def modified_ns(self, path: str) -> int | None:
        """When a file changed; None if that is unknown."""
        ...


class LocalListing:
    """Folders of this machine."""

    def entries(self, folder: str) -> list[Entry]:
        with os.scandir(folder or ".") as found:
            return sorted(
                Entry(one.name, one.is_file(), one.is_dir(), one.is_symlink()) for one in found
            )

    def exists(self, path: str) -> bool:
        return os.path.lexists(path)

    def is_folder(self, path: str) -> bool:
        return os.path.isdir(path)

    def is_recording(self, path: str) -> bool:
        return is_recording(path)

    def modified_ns(self, path: str) -> int | None:
        try:
            return os.stat(path).st_mtime_ns
        except OSError:
            return None


class StoredListing:
    """Folders of one store. It remembers answers, so that a listed file costs no request."""

    def __init__(self, path: str) -> None:
        with _store_errors(path):
            self._filesystem: FileSystem = parse(path).filesystem
        self._known: dict[str, FileInfo] = {}

    def entries(self, folder: str) -> list[Entry]:
        from pyarrow import fs

        inside = parse(folder).fs_path
        with _store_errors(folder):
            infos = self._filesystem.get_file_info(fs.FileSelector(inside))
        found = []
        for info in infos:
            path = f"{inside}/{info.base_name}"
            # A store may have a name that is empty or `..` between two slashes.
            if info.base_name in ("", ".", "..") or info.path.strip("/") != path.strip("/"):
                continue
            self._known[path] = info
            is_folder = info.type == fs.FileType.Directory
            found.append(Entry(info.base_name, info.type == fs.FileType.File, is_folder))
        return sorted(found)

    def exists(self, path: str) -> bool:
        from pyarrow import fs

        return bool(self._info(path).type != fs.FileType.NotFound)

    def is_folder(self, path: str) -> bool:
        from pyarrow import fs

        return bool(self._info(path).type == fs.FileType.Directory)

    def is_recording(self, path: str) -> bool:
        return self.is_folder(path) and self.exists(f"{path}/{MARKER_NAME}")

    def modified_ns(self, path: str) -> int | None:
        found: int | None = self._info(path).mtime_ns
        return found

    def _info(self, path: str) -> FileInfo:
        inside = parse(path).fs_path
        if inside not in self._known:
            with _store_errors(path):
                self._known[inside] = self._filesystem.get_file_info(inside)
        return self._known[inside]


LOCAL_LISTING: Final = LocalListing()


def listing_of(path: str) -> Listing:
    return StoredListing(path) if is_stored(path) else LOCAL_LISTING


@contextmanager
def _store_errors(path: str) -> Iterator[None]:
    """Errors of a store become a LakeError, except that of a missing file."""
    try:
        yield
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise LakeError(f"cannot be opened: {cause_of(error)}", path) from None
