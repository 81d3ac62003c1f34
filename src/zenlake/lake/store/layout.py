"""Where everything lies in a lake, and which version is the current one."""

from __future__ import annotations

import errno
import os
import shutil
import time
from pathlib import Path
from typing import Final

from zenlake.lake.store.errors import LakeError
from zenlake.lake.store.files import write_durably

EMPTY_FILE: Final = "empty.parquet"
MANIFEST_FILE: Final = "manifest.json"
# Old versions stay for readers that have listed their files: always the one before the current,
# others for a while after they were replaced, as long as they are not many.
VERSIONS_KEPT: Final = 2
VERSIONS_KEPT_MAX: Final = 32
READER_SECONDS: Final = 60
# How file systems say that they have no symbolic links.
_NO_LINKS: Final = {errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}


class Layout:
    """The paths of one lake."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.versions = root / "_versions"
        self.staging = root / "_staging"
        self.lock = root / "_lock"
        self.current = root / "_current"

    def version(self, number: int) -> Path:
        return self.versions / str(number)

    def manifest(self, number: int) -> Path:
        return self.version(number) / MANIFEST_FILE

    def check(self) -> None:
        """Error where the folder is something else than a lake, or can be none."""
        try:
            names = set(os.listdir(self.root))
        except FileNotFoundError:
            return
        except NotADirectoryError:
            raise LakeError("a lake is a folder, this is a file", self.root) from None
        except OSError as error:
            raise LakeError.from_os(error, self.root) from None
        if names and names.isdisjoint((self.versions.name, self.lock.name)):
            raise LakeError("the folder holds something else than a lake", self.root)

    def current_version(self) -> int | None:
        """The number of the version that readers see; None before the first."""
        try:
            text = os.path.basename(os.readlink(self.current))
        except FileNotFoundError:
            return None
        except OSError:  # not a link: a file system without them
            try:
                text = self.current.read_text("ascii")
            except (OSError, ValueError) as error:
                raise LakeError(f"damaged: {error}", self.current) from None
        if not text.strip().isdecimal():
            raise LakeError(f"damaged: {text[:40]!r} is no version", self.current)
        return int(text)

    def flip(self, number: int, scratch: Path) -> None:
        """Makes a version the current one: the one step that readers see."""
        made = scratch / self.current.name
        if not link_symbolically(f"{self.versions.name}/{number}", made):
            write_durably(made, f"{number}\n")
        os.replace(made, self.current)

    def link_tables(self, tables: tuple[str, ...]) -> None:
        """The links by which readers find tables; they lead nowhere before the first flip."""
        for table in tables:
            place = self.root / table
            target = f"{self.current.name}/{table}"
            if place.is_symlink() and os.readlink(place) == target:
                continue
            if os.path.lexists(place):
                raise LakeError("in the way of a table: not made by zenlake", place)
            if not link_symbolically(target, place):
                return

    def unlink_tables(self) -> None:
        """The links again, of a lake that gets no version."""
        for place in self.root.iterdir():
            if place.is_symlink() and os.readlink(place) == f"{self.current.name}/{place.name}":
                place.unlink()

    def sweep(self, current: int) -> None:
        """Removes what no reader can have found, and versions too old to be read still."""
        numbers = sorted(self._numbers(), reverse=True)
        visible = [number for number in numbers if number <= current]
        kept = visible[:VERSIONS_KEPT]
        for number in visible[VERSIONS_KEPT:VERSIONS_KEPT_MAX]:
            # The oldest one kept so far is the one that replaced this.
            if self._age_seconds(kept[-1]) > READER_SECONDS:
                break
            kept.append(number)
        for number in numbers:
            if number not in kept:
                shutil.rmtree(self.version(number), ignore_errors=True)

    def _age_seconds(self, number: int) -> float:
        try:
            return time.time() - self.manifest(number).stat().st_mtime
        except OSError:
            return float("inf")

    def _numbers(self) -> list[int]:
        try:
            return [int(name) for name in os.listdir(self.versions) if name.isdecimal()]
        except OSError:  # none yet, or nothing that could be removed
            return []


def link_symbolically(target: str, place: Path) -> bool:
    """False where the file system has no symbolic links."""
    try:
        os.symlink(target, place)
    except NotImplementedError:
        return False
    except OSError as error:
        if error.errno in _NO_LINKS:
            return False
        raise
    return True
