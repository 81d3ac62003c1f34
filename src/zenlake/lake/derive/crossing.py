"""Crossing: whether something in one split of a capture belongs to something in another.

Requests that ask the same of connected nodes, and publications that are equal, are compared with
each other. A split compares its own. That is all there is to compare if no other split has some of
the same group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from zenlake.lake.derive.duck import Build, Engine
from zenlake.lake.derive.duck.build import PUBLICATIONS, QUERIES
from zenlake.lake.schema.spanning import SPANNING

PROOFS: Final = frozenset(("question_groups", "content_groups", "sample_sessions"))
"""Tables that are read for it."""


def crossing_builds(
    splits: Sequence[Mapping[str, Sequence[str]]], folder: Path, memory_bytes: int
) -> list[Build]:
    """Builds that must be made of all splits together: `splits` are the files of each by table."""
    with Engine(folder, memory_bytes=memory_bytes) as engine:
        found = []
        if _has_repeated(engine, "question_groups", splits, "max(is_open)"):
            found.append(QUERIES)
        # Captures in which one session alone has samples are not looked at, as a whole.
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
    """Whether two splits have the same hash; one split has each once."""
    table = engine.read(SPANNING[name], _files(name, splits)).name
    repeated = f"GROUP BY hash HAVING count(*) > 1 AND {condition} LIMIT 1"
    return bool(engine.connection.execute(f"SELECT hash FROM {table} {repeated}").fetchall())


def _rows(engine: Engine, name: str, splits: Sequence[Mapping[str, Sequence[str]]]) -> int:
    table = engine.read(SPANNING[name], _files(name, splits)).name
    [(count,)] = engine.connection.execute(f"SELECT count(*) FROM {table}").fetchall()
    return int(count)


def _files(name: str, splits: Sequence[Mapping[str, Sequence[str]]]) -> list[str]:
    return [path for files in splits for path in files.get(name, ())]
