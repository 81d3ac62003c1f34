"""Selection: the part of a lake that a page is about."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from zenlake.keyexpr import canonize
from zenlake.lake.errors import LakeError, did_you_mean


class Selection(NamedTuple):
    """The requested key, node and capture; None for all."""

    key: str | None = None
    node: str | None = None
    capture: str | None = None

    @property
    def is_by_message(self) -> bool:
        """Whether it selects messages, not only captures."""
        return self.key is not None or self.node is not None

    def checked(self, captures: Iterable[str], zids: Iterable[str], place: Path) -> Selection:
        """The selection with the canonical key and the full id; an error if the lake lacks them."""
        return Selection(
            None if self.key is None else canonize(self.key),
            None if self.node is None else _whole_zid(self.node.lower(), zids, place),
            None if self.capture is None else _known_capture(self.capture, captures, place),
        )


def _whole_zid(beginning: str, zids: Iterable[str], place: Path) -> str:
    known = sorted(set(zids))
    if beginning in known:
        return beginning
    found = [zid for zid in known if beginning and zid.startswith(beginning)]
    if len(found) == 1:
        return found[0]
    if found:
        few = ", ".join(found[:3])
        raise LakeError(f"{len(found)} nodes begin with {beginning!r}: {few}", place)
    raise LakeError(f"no node {beginning!r}", place)


def _known_capture(path: str, captures: Iterable[str], place: Path) -> str:
    known = list(captures)
    if path in known:
        return path
    raise LakeError(f"no capture {path!r}{did_you_mean(path, known)}", place)
