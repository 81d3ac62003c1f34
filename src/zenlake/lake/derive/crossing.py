"""Crossing: whether requests or publications of two splits of a capture belong together.

Requests that ask the same of connected nodes are compared with each other, and so are equal
publications. The task of a split compares those of the split. This is enough if no other split has
members of the same group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import duckdb

from zenlake.lake.derive.derivation import Derivation
from zenlake.lake.derive.duck import Engine
from zenlake.lake.derive.duck.build import QUERIES
from zenlake.lake.derive.publications import PROOFS as PROOFS_OF_PUBLICATIONS
from zenlake.lake.derive.publications import PUBLICATIONS
from zenlake.lake.schema.spanning import SPANNING

PROOFS: Final = PROOFS_OF_PUBLICATIONS | {"question_groups"}
"""Tables that are read to find groups that cross splits."""


def crossing_tables(
    splits: Sequence[Mapping[str, Sequence[str]]], folder: Path, memory_bytes: int, threads: int = 1
) -> list[Derivation]:
    """Tables that must be made of all splits together; `splits` has the files of each by table."""
    with Engine(folder, threads, memory_bytes=memory_bytes) as engine:
        found: list[Derivation] = []
        if _has_repeated(engine, "question_groups", splits, "max(is_open)"):
            found.append(QUERIES)
        # If only one session of the capture has samples, there are no hops to find across splits.
        if _rows(engine, "sample_sessions", splits) == 1 or _has_repeated(
            engine, "content_groups", splits
        ):
            found.append(PUBLICATIONS)
        return found


def _has_repeated(
    engine: Engine,
    name: str,
    splits: Sequence[Mapping[str, Sequence[str]]],
    condition: str = "true",
) -> bool:
    """Whether two splits have the same hash; within a split each hash is unique."""
    table = engine.read(SPANNING[name], _files(name, splits)).name
    repeated = f"GROUP BY hash HAVING count(*) > 1 AND {condition} LIMIT 1"
    try:
        return bool(engine.connection.execute(f"SELECT hash FROM {table} {repeated}").fetchall())
    except duckdb.OutOfMemoryException:
        # Tables made of all splits together are always right, and are made in smaller parts.
        return True


def _rows(engine: Engine, name: str, splits: Sequence[Mapping[str, Sequence[str]]]) -> int:
    table = engine.read(SPANNING[name], _files(name, splits)).name
    [(count,)] = engine.connection.execute(f"SELECT count(*) FROM {table}").fetchall()
    return int(count)


def _files(name: str, splits: Sequence[Mapping[str, Sequence[str]]]) -> list[str]:
    return [path for files in splits for path in files.get(name, ())]
