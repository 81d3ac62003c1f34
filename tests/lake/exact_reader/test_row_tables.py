"""Rows as Arrow tables: numbers that exceed a BIGINT."""

from __future__ import annotations

from zenlake.lake.exact_reader.row_tables import to_arrow
from zenlake.lake.schema.table import BIGINT_MAX
from zenlake.lake.schema.written import WRITTEN
from zenlake.trace.rows._generated.records import NodeEventsRow


def _node(first_ns: int, last_ns: int | None) -> NodeEventsRow:
    return NodeEventsRow(
        zid="zid", role=None, locators=None, first_ns=first_ns, last_ns=last_ns, address=""
    )


def test_numbers_beyond_a_bigint_become_the_nearest() -> None:
    found = to_arrow(WRITTEN["node_events"], "c", [_node(1 << 70, -(1 << 70)), _node(5, None)])
    assert found.column("first_ns").to_pylist() == [BIGINT_MAX, 5]
    assert found.column("last_ns").to_pylist() == [-BIGINT_MAX, None]
