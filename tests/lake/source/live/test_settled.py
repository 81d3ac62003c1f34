"""Queries and replies of a stream: each once, when the outcome of the query is certain."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from tests.chance import IS_FULL, first_seed
from tests.lake.source.live.recorded import (
    Recorded,
    TestRecorder,
    recorded_packets,
    write_recording,
)
from tests.lake.source.live.streams import Stream, rows
from tests.lake.source.reading import read
from zenlake.recording.packet_headers import ends_of_pair, parse

HOUR_NS = 3_600_000_000_000
SILENCES_S = (0.5, 2, 9.9, 10.1, 30, 3_600)
"""Silences near the lease of these sessions, which is also the timeout of most queries."""


@pytest.fixture(scope="module")
def packets() -> list[Recorded]:
    return recorded_packets("queries.pcapng.gz")


@pytest.fixture(scope="module")
def expected(
    packets: list[Recorded], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, pa.Table]:
    """The rows of the whole recording, read at once."""
    folder = write_recording(tmp_path_factory.mktemp("expected") / "recording", packets, 1)
    path = str(folder / "00000001.pcapng.part")
    return {table: read(path, table) for table in ("queries", "replies")}


@pytest.mark.parametrize("table", ["queries", "replies"])
@pytest.mark.parametrize("limit", ["8k" if IS_FULL else "40k", "1g"])
def test_every_settled_row_is_read_once(
    tmp_path: Path,
    packets: list[Recorded],
    expected: dict[str, pa.Table],
    table: str,
    limit: str,
) -> None:
    folder = write_recording(tmp_path / "recording", packets, 4)
    stream = Stream(folder, table, maxBytesPerTrigger=limit)
    found = stream.all()
    identity = ["link", "seq"]
    places = rows(found.select(identity))
    assert len(places) == len(set(places))
    wanted = expected[table]
    if table == "queries":
        wanted = wanted.filter(pa.compute.not_equal(wanted["verdict"], "open"))
    assert places == rows(wanted.select(identity))
    # Traces compare queries with each other: hops in another batch are not found.
    same = set(rows(found, ("capture", "trace_id"))) & set(rows(wanted, ("capture", "trace_id")))
    assert len(same) >= 0.97 * wanted.num_rows
    if limit == "1g":
        assert rows(found) == rows(wanted)


def test_query_appears_with_its_final_response(tmp_path: Path, packets: list[Recorded]) -> None:
    recorder = TestRecorder(tmp_path / "recording")
    stream = Stream(recorder.folder, "queries")
    counts = []
    for start in range(0, 180 if IS_FULL else 120, 6):
        recorder.write(packets[start : start + 6])
        counts.append(stream.batch().num_rows)
    assert sum(counts) > 10
    assert max(counts) <= 6
    everything = Stream(recorder.folder, "queries").all()
    assert sum(counts) == everything.num_rows


def is_on(link: str, packet: Recorded) -> bool:
    """Whether a packet is on this link, by the port of the side that opened it."""
    headers = parse(packet.data)
    assert headers is not None
    opener = int(link.split("-")[0].rpartition(":")[2])
    return opener in (end.port for end in ends_of_pair(headers.pair))


def test_query_without_a_response_is_settled_by_the_first_packet_after_its_deadline(
    tmp_path: Path, packets: list[Recorded]
) -> None:
    folder = write_recording(tmp_path / "without a response", packets[:60], 1)
    asked = read(str(folder / "00000001.pcapng.part"), "queries").to_pylist()
    deadline_ns, seq, link = max(
        (query["time_ns"] + int(query["timeout_ms"] * 1e6), query["seq"], query["link"])
        for query in asked
        if query["verdict"] == "open"
    )
    recorder = TestRecorder(tmp_path / "recording")
    stream = Stream(recorder.folder, "queries")
    recorder.write(packets[:60])
    assert seq not in stream.all()["seq"].to_pylist()
    other = [packet for packet in packets[60:] if not is_on(link, packet)]
    recorder.write([other[0]._replace(time_ns=deadline_ns)])
    assert seq not in stream.all()["seq"].to_pylist()
    recorder.write([other[1]._replace(time_ns=deadline_ns + 1)])
    [settled] = [query for query in stream.all().to_pylist() if query["seq"] == seq]
    assert settled["verdict"] == "timeout"


@pytest.mark.parametrize("number", range(40 if IS_FULL else 4))
def test_queries_are_settled_once_whatever_the_silences(
    tmp_path: Path, packets: list[Recorded], number: int
) -> None:
    seed = first_seed() + number
    random = Random(seed)
    sent, silence_ns = [], 0
    for packet in packets[: random.randint(60, 300)]:
        if random.random() < 0.1:
            silence_ns += int(random.choice(SILENCES_S) * 1e9)
        sent.append(packet._replace(time_ns=packet.time_ns + silence_ns))
    folder = write_recording(tmp_path / "recording", sent, 3)
    whole = write_recording(tmp_path / "whole", sent, 1) / "00000001.pcapng.part"
    limit = random.choice(("2k", "6k", "24k"))
    found = Stream(folder, "queries", maxBytesPerTrigger=limit).all().to_pylist()
    verdicts = {(query["link"], query["seq"]): query["verdict"] for query in found}
    assert len(verdicts) == len(found), seed
    for query in read(str(whole), "queries").to_pylist():
        # Other queries may be settled later, or only by the end of a capture.
        if query["final_ms"] is not None or query["verdict"] == "timeout":
            assert verdicts[query["link"], query["seq"]] == query["verdict"], seed


def test_replies_an_hour_late_are_read_once(tmp_path: Path, packets: list[Recorded]) -> None:
    """The deadline settles a query; what comes later is a row of `replies` alone."""
    late = [
        one._replace(time_ns=one.time_ns + (HOUR_NS if place >= 60 else 0))
        for place, one in enumerate(packets[:160])
    ]
    folder = write_recording(tmp_path / "recording", late, 3)
    whole = write_recording(tmp_path / "whole", late, 1)
    for table in ("queries", "replies"):
        found = Stream(folder, table, maxBytesPerTrigger="4k" if IS_FULL else "10k").all()
        wanted = read(str(whole / "00000001.pcapng.part"), table)
        if table == "queries":
            wanted = wanted.filter(pa.compute.not_equal(wanted["verdict"], "open"))
            verdicts = found["verdict"].to_pylist()
            assert verdicts.count("timeout") == wanted["verdict"].to_pylist().count("timeout") > 0
        assert rows(found.select(["link", "seq"])) == rows(wanted.select(["link", "seq"]))
