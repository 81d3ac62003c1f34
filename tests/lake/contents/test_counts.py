"""`messages` has as many rows of each kind as the sidecars count, `batches` every byte."""

from __future__ import annotations

import gzip
import json
from collections import Counter

import pytest

from tests.lake.contents.tables import Tables
from tests.paths import CAPTURES
from tests.trace.sidecar import PATHS, WITH_COUNTS, reading_of, sidecar_of
from tests.trace.test_counts import EXACT, LOSSY, UNDECODED, wire_counts


def test_every_capture_is_complete(tables: Tables) -> None:
    assert tables.names() == PATHS.keys()
    for name in PATHS:
        (row,) = tables.of(name, "captures")
        capture = sidecar_of(name).capture
        assert row["packets"] == capture["packets"]
        assert abs(row["first_ns"] / 1e9 - capture["first"]) < 1e-3
        assert abs(row["last_ns"] / 1e9 - capture["last"]) < 1e-3
        assert row["bytes"] == PATHS[name].stat().st_size
        assert row["error"] is None


@pytest.mark.parametrize("name", EXACT)
def test_counts_are_those_of_the_sidecar(tables: Tables, name: str) -> None:
    assert tables.counts(name) == wire_counts(name)


def test_only_websocket_messages_are_missing_in_the_sidecar(tables: Tables) -> None:
    name = "encrypted_links"
    protocols = tables.protocols(name)
    by_protocol: dict[str, Counter[str]] = {}
    for row in tables.of(name, "messages"):
        by_protocol.setdefault(protocols[row["link"]], Counter())[row["kind"]] += 1
    assert by_protocol.keys() == {"tcp", "ws"}
    assert by_protocol["tcp"] == wire_counts(name)
    assert (by_protocol["ws"]["FRAME"], by_protocol["ws"]["PUSH/PUT"]) == (35, 40)


@pytest.mark.parametrize("name", LOSSY)
def test_lossy_captures_have_at_least_the_messages_of_another_decoder(
    tables: Tables, name: str
) -> None:
    assert not wire_counts(name) - tables.counts(name)


def test_impaired_has_all_messages_but_the_dropped_ones(tables: Tables) -> None:
    capture = sidecar_of("impaired").capture
    before: Counter[str] = Counter(capture["wire_counts_before_edit"])
    found = tables.counts("impaired")
    assert before - found == Counter({"PUSH/PUT": 5, "FRAME": 2})
    assert not found - before


def test_midstream_has_both_directions(tables: Tables) -> None:
    surplus = tables.counts("midstream") - wire_counts("midstream")
    extra = ("DECLARE/D_SUBSCRIBER", "DECLARE/D_FINAL", "KEEP_ALIVE")
    assert surplus == {"FRAME": 2, **dict.fromkeys(extra, 1)}


@pytest.mark.parametrize("name", sorted({*PATHS} - {*WITH_COUNTS} | {"snaplen"}))
def test_other_captures_have_the_counts_of_the_trace(tables: Tables, name: str) -> None:
    """Sidecars of these captures have no counts; tests of the trace prove its counts."""
    assert tables.counts(name) == reading_of(name).counts


@pytest.mark.parametrize("name", PATHS)
def test_other_tables_have_a_row_for_each_message(tables: Tables, name: str) -> None:
    counts = tables.counts(name)
    replies = ("RESPONSE/REPLY/PUT", "RESPONSE/REPLY/DEL", "RESPONSE/ERR")
    assert len(tables.of(name, "samples")) == counts["PUSH/PUT"] + counts["PUSH/DEL"]
    assert len(tables.of(name, "queries")) == counts["REQUEST"]
    assert len(tables.of(name, "replies")) == sum(counts[kind] for kind in replies)


@pytest.mark.parametrize("name", PATHS)
def test_messages_are_in_order_and_have_a_batch(tables: Tables, name: str) -> None:
    """`seq` is unique, time does not decrease with it, and each message has a batch."""
    rows = tables.of(name, "messages")
    assert len({row["seq"] for row in rows}) == len(rows)
    assert [row["packet"] for row in rows] == sorted(row["packet"] for row in rows)
    batches = {(row["packet"], row["link"]) for row in tables.of(name, "batches")}
    assert {(row["packet"], row["link"]) for row in rows} <= batches
    links = {row["link"]: row["session"] for row in rows if row["session"] is not None}
    sessions = {row["session"] for row in tables.of(name, "sessions")}
    assert set(links.values()) <= sessions


@pytest.mark.parametrize("name", PATHS)
def test_every_byte_is_accounted_for(tables: Tables, name: str) -> None:
    lost: Counter[str] = Counter()
    batches: Counter[str] = Counter()
    for row in tables.of(name, "batches"):
        if row["state"] != "ok":
            lost[row["state"]] += row["bytes"]
            batches[row["state"]] += 1
        if row["state"] in ("encrypted", "not_zenoh"):
            assert row["cause"] in ("TLS", "QUIC", "HTTP")
    undecoded = UNDECODED.get(name, {})
    assert lost.keys() == undecoded.keys()
    for state, size in undecoded.items():
        # For some batches the beginning was decoded: the header and sequence number of a FRAME.
        read = lost[state] - size
        assert read in (0, 5 * frames_in_broken_batches(tables, name))
        assert read <= 5 * batches[state]
    (capture,) = tables.of(name, "captures")
    texts = [f"{state}: {size} bytes" for state, size in undecoded.items()]
    assert capture["undecoded"] == ("; ".join(texts) or None)


def frames_in_broken_batches(tables: Tables, name: str) -> int:
    """FRAMEs in broken batches; the first message of a batch directly follows its batch."""
    broken = {row["seq"] for row in tables.of(name, "batches") if row["state"] != "ok"}
    rows = tables.of(name, "messages")
    return sum(row["kind"] == "FRAME" and row["seq"] - 1 in broken for row in rows)


@pytest.mark.parametrize("name", EXACT)
def test_batches_are_those_of_the_sidecar(tables: Tables, name: str) -> None:
    """The sidecar counts neither scouting nor the second CLOSE of low-latency links."""
    rows = [row for row in tables.of(name, "batches") if row["state"] == "ok"]
    assert len({row["seq"] for row in rows}) == len(rows)
    first = {row["seq"] for row in tables.of(name, "messages")}
    empty = [row for row in rows if row["seq"] + 1 not in first]
    assert [row["bytes"] for row in empty] == ([2] * 4 if name == "lowlatency" else [])
    found = Counter(row["protocol"] for row in rows)
    assert found.total() - found["scouting"] - len(empty) == batches_counted(name)


def batches_counted(name: str) -> int:
    content = json.loads(gzip.decompress((CAPTURES / f"{name}.json.gz").read_bytes()))
    return int(content["wire_stats"]["batches"])
