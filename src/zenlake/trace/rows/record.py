"""Record: the base of all rows, whose classes are generated from the declared tables."""

from __future__ import annotations

from typing import ClassVar

from zenlake._mypyc import mypyc_attr
from zenlake.trace.session import Session


@mypyc_attr(acyclic=True)
class Record:
    """A row of the table TABLE: an attribute for each of its columns but `capture`."""

    __slots__ = ()
    TABLE: ClassVar[str] = ""
    COLUMNS: ClassVar[tuple[str, ...]] = ()
    """In the declared order."""


@mypyc_attr(acyclic=True)
class SessionRecord(Record):
    """A row that refers to its session and nodes as objects: their ids may become known later."""

    __slots__ = ("session",)

    session: Session | None
