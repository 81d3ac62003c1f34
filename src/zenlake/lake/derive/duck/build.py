"""Runs the steps of `lake/derive/steps` on an engine, a limited number of events at a time.

The files of one task have all events of its sessions. So the files of each task are processed
separately, small ones together, and those of a large one some sessions at a time: the state of
joins and windows fits into memory, however long the capture is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow.parquet as pq

from zenlake.lake.derive.derivation import Derivation
from zenlake.lake.derive.duck.engine import Engine
from zenlake.lake.derive.duck.frame import Frame
from zenlake.lake.derive.steps import (
    build_declarations,
    build_declarations_of_split,
    build_explained_queries,
    build_queries,
    build_queries_of_split,
    build_topology,
)
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.spanning import SPANNING
from zenlake.lake.schema.written import WRITTEN

Files = Mapping[str, Sequence[str]]
"""Paths by table, of one task or of several."""
Keep = Callable[[str, Frame], Frame]


@dataclass(frozen=True)
class Build(Derivation):
    """Tables that steps make."""

    run: Callable[[Any, Any, Any], dict[str, list[Any]]]


_OF_QUERIES: Final = frozenset({"exchange_events", "declare_events", "sessions"})
_OF_DECLARATIONS: Final = frozenset({"declare_events", "interest_events", "sessions"})
_OF_TOPOLOGY: Final = frozenset({"node_events", "edge_events", "sessions"})

QUERIES: Final = Build(frozenset({"queries", "replies"}), _OF_QUERIES, build_queries)
BUILDS: Final = (
    QUERIES,
    Build(
        frozenset({"declarations", "ros_entities", "interests", "nodes", "adjacencies"}),
        _OF_DECLARATIONS | _OF_TOPOLOGY,
        build_declarations,
    ),
)
"""Builds of all tables derived from whole captures, except those of publications."""

DECLARATIONS_OF_SPLIT: Final = Build(
    frozenset({"declarations", "interests"}), _OF_DECLARATIONS, build_declarations_of_split
)
QUERIES_OF_SPLIT: Final = Build(
    QUERIES.makes | {"unexplained_queries", "empty_hops", "question_groups"},
    _OF_QUERIES - {"declare_events"},
    build_queries_of_split,
)
TOPOLOGY: Final = Build(
    frozenset({"ros_entities", "nodes", "adjacencies"}),
    _OF_TOPOLOGY | {"declarations"},
    build_topology,
)
EXPLAINED_QUERIES: Final = Build(
    frozenset({"queries"}),
    frozenset({"unexplained_queries", "empty_hops", "declarations", "sessions"}),
    build_explained_queries,
)

OF_SPLIT: Final = (QUERIES_OF_SPLIT, DECLARATIONS_OF_SPLIT)
"""Builds that run in one split of a capture."""
ACROSS_SPLITS: Final = (TOPOLOGY, EXPLAINED_QUERIES)
"""Builds that always need all splits."""

EVENTS_MAX: Final = 800_000
"""The number of events that are processed at a time."""
_CAPTURES: Final = "captures"
_EVENTS: Final = ("exchange_events", "declare_events", "interest_events")
_OF_SESSIONS: Final = (*_EVENTS, "sessions")
KINDS: Final = {
    **WRITTEN,
    **SPANNING,
    **{name: TABLES[name] for name in (_CAPTURES, "declarations")},
}
"""Tables that a build may read."""
_READ: Final = frozenset[str]().union(
    *(build.reads for build in (*BUILDS, TOPOLOGY, EXPLAINED_QUERIES))
)


def build_tables(
    engine: Engine,
    tasks: Sequence[Files],
    captures: Sequence[str],
    keep: Keep | None = None,
    builds: Iterable[Build] = BUILDS,
    events_max: int = EVENTS_MAX,
) -> dict[str, list[Frame]]:
    """The derived tables, each in one part or several.

    `tasks` are the files of each task, `captures` those of that table. `keep` stores a frame that
    is read several times and returns the stored one.
    """
    files = {**_together(tasks), _CAPTURES: captures}
    whole = {name: engine.read(KINDS[name], files.get(name, ())) for name in (*_READ, _CAPTURES)}
    hold = keep or (lambda name, frame: engine.keep(frame))
    found: dict[str, list[Frame]] = {}
    parts = list(_parts(engine, tasks, events_max)) or [whole]
    for build in builds:
        found |= build.run(whole, parts, hold)
    return found


def _together(tasks: Sequence[Files]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for files in tasks:
        for name, paths in files.items():
            found.setdefault(name, []).extend(paths)
    return found


def _parts(engine: Engine, tasks: Sequence[Files], events_max: int) -> Iterator[dict[str, Frame]]:
    """Parts of about the same number of events."""
    held: list[Files] = []
    rows = 0
    for files in tasks:
        count = _events(files)
        if held and rows + count > events_max:
            yield from _divide_by_sessions(engine, _together(held), rows, events_max)
            held, rows = [], 0
        held.append(files)
        rows += count
    if held:
        yield from _divide_by_sessions(engine, _together(held), rows, events_max)


def _events(files: Files) -> int:
    paths = [path for name in _EVENTS for path in files.get(name, ())]
    return sum(int(pq.read_metadata(path).num_rows) for path in paths)


def _divide_by_sessions(
    engine: Engine, files: Files, rows: int, events_max: int
) -> Iterator[dict[str, Frame]]:
    """One part, or several that divide the sessions."""
    frames = {name: engine.read(KINDS[name], files.get(name, ())) for name in _OF_SESSIONS}
    count = -(-rows // events_max)
    if count < 2:
        yield frames
        return
    for number in range(count):
        chosen = f"hash(session) % {count} = {number}"
        yield {name: frame.filtered(chosen) for name, frame in frames.items()}
