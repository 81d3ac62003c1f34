"""Record: the base of all rows, whose classes are generated from the declared tables."""

from __future__ import annotations

from typing import ClassVar

from zenlake._mypyc import mypyc_attr
from zenlake.trace.session import Session


@mypyc_attr(acyclic=True)
class Record:
    """A row of the table TABLE, with an attribute for each column except `capture`."""

    __slots__ = ()
    TABLE: ClassVar[str] = ""
    COLUMNS: ClassVar[tuple[str, ...]] = ()
    """Names of the columns in the declared order."""


@mypyc_attr(acyclic=True)
class SessionRecord(Record):
    """A row that refers to its session and nodes as objects: their ids may not be known yet."""

    __slots__ = ("session",)

    session: Session | None
