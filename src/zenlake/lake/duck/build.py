"""All steps of `lake/tables`, on an engine, a bounded number of events at a time.

What one task has read holds all events of its sessions. So the files of each task are put
together on their own, small ones with others, and those of a large one some sessions at a time:
what joins and windows have to remember fits into memory, however long the capture is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import pyarrow.parquet as pq

from zenlake.lake.duck.engine import Engine
from zenlake.lake.duck.frame import Frame
from zenlake.lake.reading.row_tables import WRITTEN
from zenlake.lake.schema import TABLES
from zenlake.lake.tables import build_lives, build_talks, build_ways

Files = Mapping[str, Sequence[str]]
"""Of one task, or of several, by table."""
Keep = Callable[[str, Frame], Frame]


class Build(NamedTuple):
    """Tables that are put together in one go."""

    run: Callable[[Any, Any, Any], dict[str, list[Any]]]
    gives: frozenset[str]
    reads: frozenset[str]
    """Tables that reading captures gives; `captures` is always there."""
    is_by_task: bool = False
    """Whether its parts are the files of one task each, which are of one capture."""


BUILDS: Final = (
    Build(
        build_talks,
        gives=frozenset({"queries", "replies"}),
        reads=frozenset({"exchange_events", "declare_events", "sessions"}),
    ),
    Build(
        build_lives,
        gives=frozenset({"declarations", "ros_entities", "interests", "nodes", "adjacencies"}),
        reads=frozenset(
            {"declare_events", "interest_events", "node_events", "edge_events", "sessions"}
        ),
    ),
    Build(
        build_ways,
        gives=frozenset({"latencies", "samples"}),
        reads=frozenset({"samples"}),
        is_by_task=True,
    ),
)

EVENTS_MAX: Final = 800_000
"""Put together at a time."""
_CAPTURES: Final = "captures"
_SAMPLES: Final = "samples"
_EVENTS: Final = ("exchange_events", "declare_events", "interest_events")
_OF_SESSIONS: Final = (*_EVENTS, "sessions")
_KINDS: Final = {**WRITTEN, _CAPTURES: TABLES[_CAPTURES]}
_READ: Final = (*_OF_SESSIONS, "edge_events", "node_events", _SAMPLES, _CAPTURES)


def build_tables(
    engine: Engine,
    tasks: Sequence[Files],
    captures: Sequence[str],
    keep: Keep | None = None,
    builds: Iterable[Build] = BUILDS,
) -> dict[str, list[Frame]]:
    """The tables that are put together, in one part or several.

    `tasks` are the files that each task wrote, `captures` those of that table. `keep` is asked
    to hold on to a frame, and gives what is read instead.
    """
    files = {**_together(tasks), _CAPTURES: captures}
    whole = {name: engine.read(_KINDS[name], files.get(name, ())) for name in _READ}
    hold = keep or (lambda name, frame: engine.keep(frame))
    found: dict[str, list[Frame]] = {}
    for build in builds:
        parts = list(_by_task(engine, tasks) if build.is_by_task else _parts(engine, tasks))
        found |= build.run(whole, parts or [whole], hold)
    return found


def _together(tasks: Sequence[Files]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for files in tasks:
        for name, paths in files.items():
            found.setdefault(name, []).extend(paths)
    return found


def _parts(engine: Engine, tasks: Sequence[Files]) -> Iterator[dict[str, Frame]]:
    """Tables of sessions, with about as many events each."""
    held: list[Files] = []
    rows = 0
    for files in tasks:
        count = _events(files)
        if held and rows + count > EVENTS_MAX:
            yield from _cut(engine, _together(held), rows)
            held, rows = [], 0
        held.append(files)
        rows += count
    if held:
        yield from _cut(engine, _together(held), rows)


def _by_task(engine: Engine, tasks: Sequence[Files]) -> Iterator[dict[str, Frame]]:
    for files in tasks:
        if _SAMPLES in files:
            yield {_SAMPLES: engine.read(_KINDS[_SAMPLES], files[_SAMPLES])}


def _events(files: Files) -> int:
    paths = [path for name in _EVENTS for path in files.get(name, ())]
    return sum(int(pq.read_metadata(path).num_rows) for path in paths)


def _cut(engine: Engine, files: Files, rows: int) -> Iterator[dict[str, Frame]]:
    """One part, or several with some of the sessions each."""
    frames = {name: engine.read(_KINDS[name], files.get(name, ())) for name in _OF_SESSIONS}
    count = -(-rows // EVENTS_MAX)
    if count < 2:
        yield frames
        return
    for number in range(count):
        chosen = f"hash(session) % {count} = {number}"
        yield {name: frame.filtered(chosen) for name, frame in frames.items()}
