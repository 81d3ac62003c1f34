"""Reading only some tables: they have the same rows as with all tables, and no others are made."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from tests.lake.merge.both_readers import gather
from tests.lake.merge.test_both_readers import _plain, _survey
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
    path = _plain(name, tmp_path)
    survey = _survey(path)
    whole = gather(Split(str(path), str(path)))
    for chosen in CHOICES:
        only = frozenset(chosen)
        for split in (
            Split(str(path), str(path), only=only),
            Split(str(path), str(path), survey, only=only),
        ):
            found = gather(split)
            for table in WRITTEN:
                assert found[table] == (whole[table] if table in only else [])


def test_no_other_tables_are_made(tmp_path: Path) -> None:
    path = _plain("multicast", tmp_path)
    made: dict[str, list[pa.Table]] = {}

    def write(tables: Tables) -> None:
        made.update(tables)

    read_split(Split(str(path), str(path), _survey(path), only=frozenset({"messages"})), write)
    assert set(made) == {"messages"}
