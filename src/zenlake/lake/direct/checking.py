"""Checks a query before a large capture is read for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from zenlake.lake.direct.capture_tables import is_large, no_rows
from zenlake.lake.plan.inputs import inputs_of
from zenlake.lake.sql import on_duckdb

_SECONDS_MAX: Final = 1.0


def check(paths: Sequence[str], sql: str) -> None:
    """Error if the query is invalid. For small captures the query itself reports it as soon."""
    if is_large(inputs_of(paths)):
        with no_rows() as tables:
            on_duckdb.check(tables.snapshot(), sql, _SECONDS_MAX)
