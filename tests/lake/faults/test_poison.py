"""R20: rows that are hard to store are stored, bounded or reported, and the run continues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.chance import IS_FULL
from tests.lake.faults.poison import LARGE_BYTES, LATEST_US, LONG_KEY, U32_MAX, U64_MAX
from tests.lake.faults.rough import RoughRun
from zenlake import lake as lakes_api

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.xdist_group("faults")

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def rows(rough: RoughRun, spark: SparkSession) -> dict[str, Rows]:
    """The rows of these captures in this order, without payloads."""
    names = ("far_away.pcapng", "poisoned.pcapng", "too_large.pcapng")
    paths = [rough.path(name) for name in names]
    opened = lakes_api.open(rough.plain, spark)
    found = {}
    for table in ("samples", "sessions", "queries", "captures", "losses"):
        frame = opened.table(table)
        chosen = frame.where(frame.capture.isin(paths)).drop("payload").orderBy("capture")
        found[table] = [row.asDict() for row in chosen.collect()]
    return found


def samples(rows: dict[str, Rows]) -> dict[str, dict[str, Any]]:
    return {row["key"]: row for row in rows["samples"]}


def test_extreme_values_are_stored(rows: dict[str, Rows]) -> None:
    keys = {"first", LONG_KEY, "ntp", "large", "in 2262", "in 1970", "before"}
    assert keys - samples(rows).keys() == set()
    assert samples(rows)["large"]["payload_size"] == LARGE_BYTES


def test_times_at_the_limit_are_stored(rows: dict[str, Rows]) -> None:
    found = samples(rows)
    assert found["in 2262"]["time_ns"] == LATEST_US * 1_000
    assert found["in 1970"]["time_ns"] == 0
    assert found["ntp"]["timestamp"].startswith(f"{U64_MAX}/")
    # All bits set is a nanosecond before the 32 bits of seconds wrap around, or rounded to it.
    assert (1 << 32) * 1_000_000_000 - found["ntp"]["timestamp_ns"] in (0, 1)
    assert rows["captures"][1]["error"] is None


def test_packets_with_impossible_times_are_reported(rows: dict[str, Rows]) -> None:
    assert "far away" not in samples(rows)
    capture = rows["captures"][0]
    assert capture["skipped"].startswith("packets whose time is beyond 64 bits of nanoseconds: 3 x")
    assert capture["error"] == "damaged, read as far as possible"


def test_numbers_of_64_bits_are_stored(rows: dict[str, Rows]) -> None:
    session = rows["sessions"][1]
    assert session["sn_bits"] == 64
    assert session["opener_lease_ms"] == session["acceptor_lease_ms"] == float(U64_MAX) * 1000
    [query] = rows["queries"]
    assert query["request_id"] == U32_MAX
    assert query["timeout_ms"] == float(U64_MAX)


def test_message_above_the_limit_is_reported(rows: dict[str, Rows]) -> None:
    assert "too large" not in samples(rows)
    if IS_FULL:
        assert "last" in samples(rows)
    assert [row["kind"] for row in rows["losses"]] == ["fragment"] * IS_FULL
