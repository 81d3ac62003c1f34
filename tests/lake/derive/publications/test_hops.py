"""Publications over several hops: the hops of one share a `trace_id`; ambiguous hops have none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.lake.derive.publications.derived import Row, latencies, traced_samples
from tests.trace.sidecar import PATHS, sidecar_of
from zenlake.lake.exact_reader.exact_tables import stage
from zenlake.lake.schema import TABLES

MS = 1_000_000


def sent(seq: int, way: str, payload: bytes = b"1", **more: Any) -> Row:
    """A sample on the link `sender>receiver`; there is one session for each pair of nodes."""
    sender, receiver = (one or None for one in way.split(">"))
    session = more.pop("session", "".join(sorted(way)))
    usual = {"kind": "PUT", "key": "k", "payload": payload, "encoding": "zenoh/bytes"}
    place = {"session": session, "link": session, "packet": seq, "time_ns": seq * MS, "seq": seq}
    return {**usual, **place, "sender_zid": sender, "receiver_zid": receiver, **more}


def stamped(seq: int, way: str, at: int, by: str = "r") -> Row:
    return sent(seq, way, timestamp=f"{at}/{by}", timestamp_ns=at)


CASES: dict[str, tuple[list[Row], list[int | None]]] = {
    "through a router": ([sent(1, "p>r"), sent(2, "r>s"), sent(3, "r>t")], [1, 1, 1]),
    "equal ones in order": (
        [sent(1, "p>r"), sent(2, "r>s"), sent(3, "p>r"), sent(4, "r>s")],
        [1, 1, 3, 3],
    ),
    "different ones": (
        [sent(1, "p>r"), sent(2, "p>r", b"2"), sent(3, "r>s"), sent(4, "r>s", b"2")],
        [1, 2, 1, 2],
    ),
    "a subscriber that came later": (
        [sent(1, "p>r"), sent(2, "p>r"), sent(3, "r>s")],
        [None, None, None],
    ),
    "two publishers": ([sent(1, "p>r"), sent(2, "q>r"), sent(3, "r>s")], [None, None, None]),
    "a publisher with two neighbours": ([sent(1, "p>r"), sent(2, "p>s"), sent(3, "r>t")], [1] * 3),
    "two neighbours, not at once": ([sent(1, "p>r"), sent(99, "p>s")], [None, None]),
    "values far apart, and a subscriber that came later": (
        [*(sent(1, "p>r"), sent(50, "p>r"), sent(51, "r>s"), sent(99, "p>r"), sent(103, "r>s"))],
        [1, 50, 50, 99, 99],
    ),
    "far apart, and two publishers": (
        [sent(1, "p>r"), sent(2, "r>s"), sent(50, "q>r"), sent(51, "r>s"), sent(99, "p>r")],
        [1, 1, 50, 50, 99],
    ),
    "far apart, and one took longer": (
        [sent(1, "p>r"), sent(50, "p>r"), sent(52, "p>r"), sent(53, "r>s"), sent(60, "r>s")],
        [None] * 5,
    ),
    "a subscriber that publishes the same": (
        [sent(1, "p>r"), sent(2, "r>q"), sent(50, "q>r"), sent(51, "r>s")],
        [1, 1, 50, 50],
    ),
    "a burst, of which a router adds timestamps, and a subscriber that leaves": (
        [
            *(sent(1, "p>r"), sent(2, "p>r"), sent(3, "p>r"), stamped(4, "r>t", 8)),
            *(stamped(5, "r>s", 7), stamped(6, "r>s", 8), stamped(7, "r>s", 9)),
        ],
        [1, 2, 3, 2, 1, 2, 3],
    ),
    "two routers that add timestamps": (
        [
            *(sent(1, "p>r"), stamped(2, "r>u", 7), stamped(3, "u>s", 7)),
            *(sent(4, "q>u"), stamped(5, "u>s", 8, "u"), stamped(6, "u>r", 8, "u")),
            *(
                sent(7, "x>y"),
                sent(8, "q>u"),
                stamped(9, "u>s", 9, "u"),
                stamped(10, "u>r", 9, "u"),
            ),
        ],
        [1, 1, 1, 4, 4, 4, None, 8, 8, 8],
    ),
    "a node that is not known": ([sent(1, "p>r"), sent(2, "r>"), sent(3, "r>s")], [None] * 3),
    "passed on before it came": ([sent(1, "r>s"), sent(2, "p>r")], [None, None]),
    "a timestamp that the router adds": (
        [sent(1, "p>r"), sent(2, "r>s", timestamp="7/r"), sent(3, "s>t", timestamp="7/r")],
        [1, 1, 1],
    ),
    "timestamps that differ": (
        [sent(1, "p>r"), sent(2, "r>s", timestamp="7/r"), sent(3, "r>t", timestamp="8/r")],
        [None, 2, 3],
    ),
    "known by timestamps alone": (
        [
            *(sent(1, "p>r"), sent(2, "p>r"), sent(3, "r>s", timestamp="7/r")),
            *(sent(4, "s>t", timestamp="7/r"),),
        ],
        [None, None, 3, 3],
    ),
    "source information": (
        [
            *(sent(1, "p>r", source_zid="p", source_eid=1, source_sn=1),),
            *(sent(2, "p>s", source_zid="p", source_eid=1, source_sn=1),),
        ],
        [1, 1],
    ),
    "one hop": ([sent(1, "p>r"), sent(2, "p>r"), sent(3, "r>s", b"2")], []),
}


def samples_of(rows: list[Row]) -> pa.Table:
    return pa.Table.from_pylist(rows, TABLES["samples"].base.arrow)


def test_hops_of_a_publication_have_one_trace(tmp_path: Path) -> None:
    found: dict[str, list[int | None]] = {case: [] for case in CASES}
    rows = [{"capture": case, **row} for case, (sent, _) in CASES.items() for row in sent]
    for row in latencies(samples_of(rows), tmp_path):
        found[row["capture"]].append(row["trace_id"])
    assert found == {case: wanted for case, (_, wanted) in CASES.items()}


def test_samples_have_the_same_traces(tmp_path: Path) -> None:
    """A sample on one hop is its own trace."""
    more = (sent(1009, "x>y", b"own"), sent(1010, "x>y", key=None))
    rows = [
        {"capture": case, **row, "trace_id": None if row["key"] is None else row["seq"]}
        for case, (given, _) in CASES.items()
        for row in (*given, *more)
    ]
    samples = samples_of(rows)
    expected = samples.to_pylist()
    known = {case: [*traces] for case, (_, traces) in CASES.items() if traces}
    for row in expected:
        if known.get(row["capture"]):
            row["trace_id"] = known[row["capture"]].pop(0)
    assert traced_samples(samples, tmp_path) == expected


def test_samples_on_one_hop_keep_their_file(tmp_path: Path) -> None:
    rows = [{"capture": "c", **row, "trace_id": row["seq"]} for row in CASES["one hop"][0]]
    samples = samples_of(rows)
    assert traced_samples(samples, tmp_path) is None
    assert latencies(samples, tmp_path) == []


def test_latencies_are_measured_from_the_first_hop(tmp_path: Path) -> None:
    rows = [sent(1, "p>r"), sent(3, "r>s"), sent(7, "r>t"), sent(8, "t>u")]
    found = latencies(samples_of([{"capture": "c", **row} for row in rows]), tmp_path)
    assert [row["latency_ms"] for row in found] == [0, 2, 6, 7]
    assert [row["is_last"] for row in found] == [False, True, False, True]
    assert {(row["publisher_zid"], row["sent_ns"]) for row in found} == {("p", MS)}


@pytest.mark.parametrize("name", ["routers_ring", "qos_matrix"])
def test_each_real_put_is_one_trace(tmp_path: Path, name: str) -> None:
    """The trace begins at the node of the application."""
    found = latencies(stage(PATHS[name], name)["samples"], tmp_path)
    sidecar = sidecar_of(name)
    assert all(row["trace_id"] is not None for row in found)
    traces = {row["trace_id"] for row in found}
    puts = [*sidecar.of("put"), *sidecar.of("delete")]
    assert len(traces) == len(puts)
    assert all(row["latency_ms"] > 0 for row in found if row["is_last"])


def test_put_of_a_peer_to_several_peers_is_one_trace(tmp_path: Path) -> None:
    name = "peers_gossip"
    found = traced_samples(stage(PATHS[name], name)["samples"], tmp_path)
    assert found is not None
    sidecar = sidecar_of(name)
    puts = [*sidecar.of("put"), *sidecar.of("delete")]
    assert len({row["trace_id"] for row in found}) == len(puts) < len(found)
    assert all(row["trace_id"] is not None for row in found)
