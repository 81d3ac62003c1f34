"""A page does not grow with its lake, and what it leaves out is counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.report.small_lake import ROUTER, Rows, capture, life, make, message, node, row
from zenlake.report import Selection, collect
from zenlake.report import bounds as b
from zenlake.report.page import as_json

pytestmark = pytest.mark.xdist_group("bounds")

KEYS = 3_000
NODES = 400


def busy() -> Rows:
    rows: dict[str, list[dict[str, Any]]] = {
        "captures": [capture(end=600_000)],
        "nodes": [node(ROUTER, "router"), *(node(f"f{n:04}", "client") for n in range(NODES))],
    }
    zids = [f"f{n:04}" for n in range(NODES)]
    rows["messages"] = [
        message(20 * n, n + 1, "PUSH/PUT", f"r{n % 200}/{n % KEYS}", sender_zid=zids[n % NODES])
        for n in range(24_000)
    ]
    ends = {"responder_zid": ROUTER}
    rows["queries"] = [
        row(10 * n, n + 1, key=f"q/{n}", requester_zid=zids[n % NODES], **ends)
        | {"verdict": ("error", "empty")[n % 2], "final_ms": n / 7, "reason": "x" * 5_000}
        for n in range(3_000)
    ]
    rows["replies"] = [
        row(10 * n, n + 1, query_seq=1 << 24, kind="PUT", payload=b"x" * 10_000, **ends)
        for n in range(100)
    ]
    rows["declarations"] = [life(n, n + 500, f"t/{n}", entity_id=n) for n in range(2_000)]
    rows["losses"] = [
        row(50 * n, n + 1, kind="sn_gap", link=f"l{n}", sender_zid=zids[n % NODES], count=1)
        for n in range(1_000)
    ]
    rows["violations"] = [
        row(50 * n, n + 1, rule=f"rule-{n % 300}", severity="warning", sender_zid=zids[n % NODES])
        for n in range(1_000)
    ]
    return rows


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return collect(make(tmp_path_factory.mktemp("bounds") / "busy.lake", busy()), Selection())


def test_data_of_a_page_stays_below_its_bound(data: dict[str, Any]) -> None:
    assert len(as_json(data)) < 3_500_000


def test_cells_of_traffic(data: dict[str, Any]) -> None:
    cells = data["traffic"]["cells"]
    assert len(cells["bin"]) <= b.CELLS_MAX
    assert sum(cells["messages"]) + data["traffic"]["leftOut"] == 24_000
    assert data["traffic"]["leftOut"] == 0


def test_keys_beyond_the_limit_are_summed(data: dict[str, Any]) -> None:
    keys = data["keys"]
    assert len(keys["totals"]) == b.KEYS_MAX
    assert len(keys["others"]) == b.FIRST_CHUNKS_MAX
    listed = sum(total[1] for total in keys["totals"])
    others = sum(other[2] for other in keys["others"])
    assert listed + others + keys["rest"][2] == 24_000
    assert sum(other[1] for other in keys["others"]) + keys["rest"][1] == KEYS - b.KEYS_MAX
    assert keys["inAll"] == KEYS


def test_listed_nodes_and_queries_are_bounded(data: dict[str, Any]) -> None:
    assert data["names"]["nodesRanked"] == b.NODES_MAX
    assert len(data["names"]["nodes"]) < NODES + 1
    assert data["names"]["nodesInAll"] == NODES + 1
    assert sum(cell[-1] for cell in data["queries"]["cells"]) == 3_000
    assert len(data["queries"]["cells"]) <= b.QUERY_CELLS_MAX + 3_000
    waterfall = data["waterfall"]
    assert len(waterfall["queries"]) == waterfall["failedListed"] == b.QUERIES_FAILED_MAX
    assert waterfall["failedInAll"] == 3_000
    # Both verdicts are among those that are listed.
    assert {query["verdict"] for query in waterfall["queries"]} == {"error", "empty"}
    assert max(len(query["reason"]) for query in waterfall["queries"]) < 400
    for query in waterfall["queries"]:
        assert sum(len(hop["answers"]) for hop in query["hops"]) <= b.REPLIES_MAX


def test_listed_declarations_losses_and_violations_are_bounded(data: dict[str, Any]) -> None:
    assert len(data["declarations"]["lives"]) == b.LIVES_MAX
    assert data["declarations"]["inAll"] == 2_000
    assert len(data["losses"]["groups"]) == b.LOSSES_MAX
    assert data["losses"]["leftOut"] == 1_000 - b.LOSSES_MAX
    assert len(data["violations"]["examples"]) == b.VIOLATION_EXAMPLES_MAX
    assert data["violations"]["inAll"] == 1_000


def test_many_cells_are_put_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zenlake.report.traffic.CELLS_MAX", 600)
    data = collect(make(tmp_path / "busy.lake", busy()), Selection())
    cells = data["traffic"]["cells"]
    assert len(cells["bin"]) <= 600
    assert data["traffic"]["step"] > 1
    fine = data["traffic"]["fine"]
    assert fine["step"] < 1
    assert sum(fine["cells"]["messages"]) == 24_000
    assert sum(cells["messages"]) + data["traffic"]["leftOut"] == 24_000


def test_fine_cells_stay_below_their_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = make(tmp_path / "busy.lake", busy())
    monkeypatch.setattr("zenlake.report.traffic.FINE_MESSAGES_MAX", 20_000)
    steps = {}
    for most in (b.FINE_CELLS_MAX, 2_000, 10):
        monkeypatch.setattr("zenlake.report.traffic.FINE_CELLS_MAX", most)
        traffic = collect(store, Selection())["traffic"]
        assert traffic["step"] >= 1
        fine = traffic["fine"]
        steps[most] = fine and fine["step"]
        if fine:
            assert len(fine["cells"]["bin"]) <= most
            assert sum(fine["cells"]["messages"]) == 24_000
    assert steps[b.FINE_CELLS_MAX] < steps[2_000] < 1
    assert steps[10] is None
