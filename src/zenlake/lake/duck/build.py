"""All steps of `lake/tables`, on an engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zenlake.lake.duck.engine import Engine
from zenlake.lake.duck.frame import Frame
from zenlake.lake.reading.row_tables import WRITTEN
from zenlake.lake.schema import TABLES
from zenlake.lake.tables import build_all

_CAPTURES = "captures"


def build_tables(engine: Engine, files: Mapping[str, list[str]]) -> dict[str, Frame]:
    """The tables that are put together; `files` by table, those of `captures` too."""
    tables = {**WRITTEN, _CAPTURES: TABLES[_CAPTURES]}
    frames: Any = {name: engine.read(one, files.get(name, [])) for name, one in tables.items()}

    def keep(name: str, frame: Any) -> Any:
        return engine.keep(frame)

    found: Any = build_all(frames, keep)
    return dict(found)
