"""A page is the same from a few tables in memory as from all tables in files."""

from __future__ import annotations

import pytest

from tests.trace.sidecar import PATHS
from zenlake.lake import direct
from zenlake.lake.schema import TABLES
from zenlake.report import Selection, collect, database


@pytest.mark.parametrize("name", ["queries", "routers_ring"])
def test_tables_in_memory_give_the_same_page(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    captures = [str(PATHS[name])]
    with direct.read(captures, database.TABLES_READ, as_read=[database.SAMPLES]) as tables:
        from_memory = collect(tables, Selection())
    assert set(database.TABLES_READ) < set(TABLES)
    monkeypatch.setattr(database, "LOADED_BYTES_MAX", 0)
    with direct.read(captures) as tables:
        assert collect(tables, Selection()) == from_memory
