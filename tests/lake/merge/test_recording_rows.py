"""A recording has the rows of a capture with the same packets; so does a segment of it alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.capture.capture_file import write_capture
from tests.capture.recorded import parts_of, raw_packets, write_recording
from tests.paths import CAPTURES
from zenlake import trace
from zenlake.lake.exact_reader.exact_tables import stage

NAMES = [
    *("pubsub_router.pcapng", "queries.pcapng.gz", "fragments.pcapng.gz", "compression.pcapng.gz"),
    *("liveliness.pcapng.gz", "lowlatency.pcapng.gz", "qos_matrix.pcap", "reconnect.pcapng"),
    *("routers_ring.pcapng.gz", "multicast.pcapng.gz", "udp_unicast.pcapng.gz"),
    "impaired.pcapng.gz",
]
PARTS = 3
Rows = list[dict[str, Any]]


def rows(tables: dict[str, pa.Table], name: str, after: int = 0) -> Rows:
    found = tables[name].to_pylist() if name in tables else []
    kept = [row for row in found if row["packet"] > after]
    return sorted(kept, key=lambda row: (row["packet"], row["link"], row.get("seq", 0), str(row)))


@pytest.mark.parametrize("name", NAMES)
def test_recording_gives_the_rows_of_a_capture(tmp_path: Path, name: str) -> None:
    sent = raw_packets(CAPTURES / name)
    capture = write_capture(tmp_path / "capture.pcapng", sent)
    recording = write_recording(tmp_path / "recording", parts_of(sent, PARTS))
    expected, found = stage(str(capture), "x"), stage(str(recording), "x")
    assert expected.keys() == found.keys()
    for table, content in expected.items():
        assert found[table].equals(content), table


@pytest.mark.parametrize("name", NAMES)
def test_segment_alone_gives_its_rows_and_no_others(tmp_path: Path, name: str) -> None:
    sent = raw_packets(CAPTURES / name)
    parts = parts_of(sent, PARTS)
    capture = write_capture(tmp_path / "capture.pcapng", sent)
    recording = write_recording(tmp_path / "recording", parts)
    expected = stage(str(capture), "x")
    found = stage(str(recording / "00000003.pcapng"), "x")
    before = len(sent) - len(parts[-1])
    for table in ("messages", "samples", "batches", "losses"):
        assert rows(found, table, -before) == rows(expected, table, before), table
    assert all(row["packet"] > before for row in rows(found, "violations", -before))
    # Rows that join what was open before the segment with what happens in it.
    for table in ("declare_events", "interest_events", "exchange_events", "edge_events"):
        known = [(row["link"], row["time_ns"]) for row in rows(expected, table)]
        assert sorted((row["link"], row["time_ns"]) for row in rows(found, table, -before)) == (
            sorted(known)
        ), table
    sessions = {row["session"]: row for row in expected["sessions"].to_pylist()}
    for row in found["sessions"].to_pylist():
        assert row["opened_ns"] == sessions[row["session"]]["opened_ns"]
        assert row["opener_zid"] == sessions[row["session"]]["opener_zid"]


def test_state_alone_gives_sessions_and_nothing_else(tmp_path: Path) -> None:
    sent = raw_packets(CAPTURES / "pubsub_router.pcapng")
    recording = write_recording(tmp_path / "recording", [sent[:200], []])
    found = stage(str(recording / "00000002.pcapng"), "x")
    assert {"messages", "samples", "batches", "losses", "violations"}.isdisjoint(found)
    assert found["sessions"].num_rows
    assert found["declare_events"].num_rows
    with trace.open(str(recording / "00000002.pcapng")) as opened:
        assert all(event.is_state for event in opened)
        assert (opened.packets, opened.first_ns, opened.last_ns) == (0, None, None)
