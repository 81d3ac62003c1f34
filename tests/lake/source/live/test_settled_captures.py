"""Queries and replies of rotated captures: those of one capture with all packets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.chance import IS_FULL
from tests.lake.source.live.rotated import file_bytes, read_packets, write_rotated
from tests.lake.source.live.streams import Stream, rows, through_json
from tests.lake.source.reading import read
from zenlake.capture.packet import Packet
from zenlake.lake.source.live import settled_captures
from zenlake.trace.rows.seq import ORDINAL_BITS

TABLES = ("queries", "replies")
SIZE = 110
SMALL_BATCH = "16k" if IS_FULL else "64k"
NUMBERS = ("seq", "query_seq", "trace_id")


@pytest.fixture(scope="module")
def packets() -> list[Packet]:
    return read_packets("queries.pcapng.gz")


@pytest.fixture(scope="module")
def expected(
    packets: list[Packet], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, pa.Table]:
    """The rows of the whole capture, read at once."""
    path = tmp_path_factory.mktemp("expected") / "whole.pcap"
    path.write_bytes(file_bytes(packets, "pcap"))
    found = {table: read(str(path), table) for table in TABLES}
    is_settled = pa.compute.not_equal(found["queries"]["verdict"], "open")
    return found | {"queries": found["queries"].filter(is_settled)}


def counted_through(found: pa.Table) -> pa.Table:
    """Rows with the numbers that they have in one capture with all packets."""
    before = [
        int(Path(name).stem.removeprefix("robot_").partition(".")[0])
        for name in found["capture"].to_pylist()
    ]
    shifts = {name: 1 if name == "packet" else 1 << ORDINAL_BITS for name in ("packet", "seq")}
    for name, unit in shifts.items():
        numbers = [n + b * unit for n, b in zip(found[name].to_pylist(), before, strict=True)]
        place = found.column_names.index(name)
        found = found.set_column(place, found.schema.field(name), pa.array(numbers, pa.int64()))
    return found


def without_numbers(found: pa.Table) -> list[str]:
    """Rows without what names other packets, whose files are not known here."""
    texts = ("reason", "dropped_because", "query_seq", "trace_id", "cause")
    return rows(found, ("capture", *texts))


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("limit", ["8k" if IS_FULL else "40k", "1g"])
def test_every_row_is_read_once(
    tmp_path: Path, packets: list[Packet], expected: dict[str, pa.Table], table: str, limit: str
) -> None:
    write_rotated(tmp_path, packets, SIZE, "pcap")
    found = counted_through(Stream(tmp_path, table, maxBytesPerTrigger=limit).all())
    wanted = expected[table]
    assert found.num_rows == wanted.num_rows > 100
    assert without_numbers(found) == without_numbers(wanted)
    if limit == "1g":
        texts = ["reason", "cause"] if table == "queries" else ["dropped_because"]
        assert rows(found.select(["seq", *texts])) == rows(wanted.select(["seq", *texts]))


def test_number_of_a_query_is_that_in_its_file(
    tmp_path: Path, packets: list[Packet], expected: dict[str, pa.Table]
) -> None:
    write_rotated(tmp_path, packets, SIZE, "pcap")
    seqs = {row["seq"] for row in Stream(tmp_path, "queries").all().to_pylist()}
    found = Stream(tmp_path, "replies").all()
    assert {row["query_seq"] for row in found.to_pylist()} - {None} <= seqs
    assert max(found["packet"].to_pylist()) <= SIZE


@pytest.mark.parametrize("table", TABLES)
def test_a_batch_has_the_same_rows_after_a_restart(
    tmp_path: Path, packets: list[Packet], table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read again by another process, whether it keeps the events or a task reads them."""
    write_rotated(tmp_path, packets, SIZE, "pcapng")
    stream = Stream(tmp_path, table, maxBytesPerTrigger=SMALL_BATCH)
    begin = stream.start()
    batches: list[tuple[dict[str, Any], dict[str, Any], list[str]]] = []
    while (end := stream.next(begin)) != begin:
        batches.append((begin, end, rows(stream.rows(begin, end), ())))
        begin = end
    assert len(batches) > 4
    assert any("oldest_open" in end for _, end, _ in batches)
    for start, end, found in batches[1::3]:
        again = Stream(tmp_path, table, maxBytesPerTrigger=SMALL_BATCH)
        assert rows(again.rows(start, end), ()) == found
        assert through_json(again.reader.latestOffset(start, again.reader.getDefaultReadLimit()))
    monkeypatch.setattr(settled_captures, "PLANNED_EVENTS_BYTES_MAX", 0)
    read_by_tasks = Stream(tmp_path, table, maxBytesPerTrigger=SMALL_BATCH)
    begin = read_by_tasks.start()
    for start, end, found in batches:
        assert read_by_tasks.next(start) == end
        assert rows(read_by_tasks.rows(start, end), ()) == found


def test_query_appears_with_its_final_response(tmp_path: Path, packets: list[Packet]) -> None:
    stream = Stream(tmp_path, "queries")
    counts = [stream.batch().num_rows]
    for number, start in enumerate(range(0, 300 if IS_FULL else 200, 100)):
        for stop in range(start + 10, start + 101, 10):
            path = tmp_path / f"robot_{number}.pcap"
            path.write_bytes(file_bytes(packets[start:stop], "pcap"))
            counts.append(stream.batch().num_rows)
    assert sum(counts) > 20
    assert max(counts) < 12
    assert sum(counts) == Stream(tmp_path, "queries").all().num_rows


def test_older_files_are_not_needed(
    tmp_path: Path, packets: list[Packet], expected: dict[str, pa.Table]
) -> None:
    write_rotated(tmp_path, packets, SIZE, "pcap")
    stream = Stream(tmp_path, "queries", maxFilesPerTrigger="1")
    parts = []
    for _ in range(-(-len(packets) // SIZE)):
        parts.append(stream.batch())
        assert stream.offset is not None
        for path in tmp_path.iterdir():
            if path.name < stream.offset["segment"]:
                path.unlink()
    assert len(list(tmp_path.iterdir())) == 1
    found = counted_through(pa.concat_tables(parts))
    assert without_numbers(found) == without_numbers(expected["queries"])
