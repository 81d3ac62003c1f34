"""Rows as Arrow tables: numbers that no BIGINT holds."""

from __future__ import annotations

from zenlake.lake.reading.row_tables import BIGINT_MAX, WRITTEN, to_arrow


def test_numbers_beyond_a_bigint_become_the_nearest() -> None:
    rows = [("zid", None, None, 1 << 70, -(1 << 70), ""), ("zid", None, None, 5, None, "")]
    found = to_arrow(WRITTEN["node_events"], "c", rows)
    assert found.column("first_ns").to_pylist() == [BIGINT_MAX, 5]
    assert found.column("last_ns").to_pylist() == [-BIGINT_MAX, None]
