"""Reading only some tables: they have the same rows as with all tables, and no others are made."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from tests.lake.fast_reader.captures import plain, surveyed
from tests.lake.merge.both_readers import gather
from tests.trace.sidecar import PATHS
from zenlake.lake.merge.split import Split, Tables, read_split
from zenlake.lake.schema.written import WRITTEN

CHOICES = (
    {"messages"},
    {"sessions", "losses"},
    {"samples", "edge_events"},
    {"node_events"},
    {"violations"},
)


@pytest.mark.parametrize("name", ["lowlatency", "multicast", "peers_gossip", "impaired", "queries"])
def test_requested_tables_have_the_same_rows(name: str, tmp_path: Path) -> None:
    path = plain(PATHS[name], tmp_path)
    survey = surveyed(path)
    whole = gather(Split(path, path))
    for chosen in CHOICES:
        only = frozenset(chosen)
        for split in (
            Split(path, path, only=only),
            Split(path, path, survey, only=only),
        ):
            found = gather(split)
            for table in WRITTEN:
                assert found[table] == (whole[table] if table in only else [])


def test_no_other_tables_are_made(tmp_path: Path) -> None:
    path = plain(PATHS["multicast"], tmp_path)
    made: dict[str, list[pa.Table]] = {}

    def write(tables: Tables) -> None:
        made.update(tables)

    read_split(Split(path, path, surveyed(path), only=frozenset({"messages"})), write)
    assert set(made) == {"messages"}
