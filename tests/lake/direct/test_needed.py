"""The tables that a query uses, and the tables that must be read for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from zenlake.lake.derive.duck import BUILDS, Engine, build_tables
from zenlake.lake.derive.duck.build import ACROSS_SPLITS, OF_SPLIT
from zenlake.lake.derive.needed import read_for
from zenlake.lake.derive.publications import PROOFS, PUBLISHED
from zenlake.lake.direct.needed import tables_in
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.spanning import SPANNING
from zenlake.lake.schema.written import WRITTEN


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 1", set()),
        ("FROM Messages", {"messages"}),
        ('SELECT * FROM "queries" JOIN main.replies USING (trace_id)', {"queries", "replies"}),
        ("WITH a AS (FROM samples) SELECT * FROM a", {"samples"}),
        ("SELECT 'nodes' AS a FROM messages", {"messages", "nodes"}),
        ("SELECT queries.messages_seen FROM x", {"queries"}),
        ("FROM query_table('mess' || 'ages')", set(TABLES)),
        ("FROM query ('FROM ' || 'queries')", set(TABLES)),
    ],
)
def test_tables_of_a_query_are_found(sql: str, expected: set[str]) -> None:
    assert tables_in(sql) == expected


def test_listed_inputs_and_outputs_of_builds_are_those_of_their_steps(tmp_path: Path) -> None:
    given = {*PUBLISHED, *PROOFS}
    for build in (*BUILDS, *OF_SPLIT, *ACROSS_SPLITS):
        with Engine(tmp_path) as engine:
            frames = build_tables(engine, [], [], builds=[build])
            assert set(frames) == build.makes
            read = frozenset[str]().union(*(one.sources for all in frames.values() for one in all))
            assert read - {"captures"} == build.reads
        given |= build.makes
    assert given | {"captures"} | (set(WRITTEN) & set(TABLES)) == set(TABLES) | set(SPANNING)


def test_only_needed_tables_are_read() -> None:
    assert read_for(["messages"]) == ["messages"]
    assert read_for([]) == read_for(["captures"]) == []
    assert set(read_for(["queries"])) == {"exchange_events", "declare_events", "sessions"}
    assert set(read_for(TABLES)) == set(WRITTEN)
