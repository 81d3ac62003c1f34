"""Which tables a capture must be read into, so that others can be derived from them."""

from __future__ import annotations

from collections.abc import Collection

from zenlake.lake.derive.duck.build import BUILDS
from zenlake.lake.derive.publications import PUBLICATIONS
from zenlake.lake.schema.written import WRITTEN


def read_for(tables: Collection[str]) -> list[str]:
    """The tables to read a capture into: of `tables` and of what they are derived from."""
    derived = [one for one in (*BUILDS, PUBLICATIONS) if not one.makes.isdisjoint(tables)]
    wanted = set(tables).union(*(one.reads for one in derived))
    return [name for name in WRITTEN if name in wanted]
