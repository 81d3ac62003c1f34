"""All sections of one small lake, and that together they leave nothing out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.report.small_lake import (
    ARM,
    ASKER,
    CAPTURE,
    ROUTER,
    Rows,
    capture,
    make,
    make_partly,
    message,
    robot,
    row,
)
from zenlake.errors import LocalError
from zenlake.lake.errors import LakeError
from zenlake.report import Selection, collect, write

pytestmark = pytest.mark.xdist_group("report")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return collect(make(tmp_path_factory.mktemp("report") / "robot.lake", robot()), Selection())


def chosen(tmp_path: Path, rows: Rows | None = None, **selection: str) -> dict[str, Any]:
    return collect(make(tmp_path / "a.lake", rows or robot()), Selection(**selection))


def texts(data: dict[str, Any]) -> list[str]:
    return [finding["text"] for finding in data["findings"]]


def test_worst_findings_come_first(data: dict[str, Any]) -> None:
    assert [(one["severity"], one["section"]) for one in data["findings"]] == [
        ("bad", "violations"),
        ("bad", "queries"),
        ("bad", "losses"),
        ("odd", "topology"),
        ("note", "queries"),
    ]
    assert texts(data) == [
        "1 rule of the protocol broken 1 time (error): sn-backwards.",
        "1 of 2 queries timed out on arm/pose.",
        "Sequence numbers are missing: messages were dropped or not captured "
        "(3 missing, on 1 link).",
        "1 session ended without a CLOSE.",
        "1 reply did not reach the querier: its consolidation mode dropped them.",
    ]


def test_overview_counts_messages_bytes_nodes_and_queries(data: dict[str, Any]) -> None:
    seen = data["overview"]
    # The bytes of a frame are counted for the messages in it.
    assert (seen["messages"], seen["bytes"], seen["nodes"]) == (44, 40 * 100 + 1 + 9000 + 100, 3)
    assert (seen["queries"], seen["answered"], seen["capturesInAll"]) == (2, 1, 1)
    assert seen["seconds"] == 10


def test_cells_of_traffic_sum_up_to_all_messages(data: dict[str, Any]) -> None:
    cells = data["traffic"]["cells"]
    assert sum(cells["messages"]) == data["overview"]["messages"]
    assert sum(cells["bytes"]) == data["overview"]["bytes"]
    assert data["traffic"]["leftOut"] == 0
    kinds = {data["traffic"]["kinds"][kind] for kind in cells["kind"]}
    assert kinds == {"publications", "queries", "transport"}


def test_keys_have_their_totals(data: dict[str, Any]) -> None:
    names = data["names"]["keys"]
    totals = {names[number]: rest for number, *rest in data["keys"]["totals"]}
    assert totals["arm/joint/0"] == [10, 1000, 0.0, 3600.0]
    assert totals["camera/image"][:2] == [1, 9000]
    assert data["keys"]["inAll"] == len(totals) == 6


def test_a_query_is_shown_with_its_hops(data: dict[str, Any]) -> None:
    failed, slow = data["waterfall"]["queries"]
    assert (failed["verdict"], failed["parameters"], failed["finalMs"]) == ("timeout", "now", 502.0)
    assert [(hop["at"], hop["packet"]) for hop in failed["hops"]] == [(0.0, 21), (1.0, 22)]
    [answer] = failed["hops"][0]["answers"]
    assert (answer["at"], answer["kind"], answer["payload"]["text"]) == (502.0, "ERR", "Timeout")
    [dropped] = slow["hops"][0]["answers"]
    assert dropped["payload"] == {"size": 2, "hex": "ff 00"}
    assert dropped["because"].startswith("latest")
    assert data["queries"]["percentiles"][0] == [1.5, 1.5, 1.5]
    assert sum(cell[-1] for cell in data["queries"]["cells"]) == 2


def test_losses_sessions_and_violations_are_listed(data: dict[str, Any]) -> None:
    [loss] = data["losses"]["groups"]
    assert (loss["kind"], loss["times"], loss["missing"], loss["at"]) == ("sn_gap", 1, 3, 4000.0)
    [session] = data["topology"]["bad"]
    assert (session["outcome"], session["seconds"]) == ("lost", 8.999)
    [example] = data["violations"]["examples"]
    assert example["bytes"] == {"missing": "the capture is no longer where it was read"}


def test_key_expression_filters_the_report(tmp_path: Path) -> None:
    data = chosen(tmp_path, key="arm/*/1")
    assert data["overview"]["messages"] == 10
    assert data["names"]["keys"] == ["arm/joint/1", "arm/joint/*"]
    assert data["overview"]["queries"] == 1
    assert data["about"]["key"] == "arm/*/1"


def test_node_filters_the_report_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    data = chosen(tmp_path, node="A5")
    assert data["about"]["node"] == ASKER
    assert data["overview"]["messages"] == 1
    assert data["losses"]["times"] == data["violations"]["inAll"] == 0
    # A query is shown completely, with the hops that this node did not see.
    assert len(data["waterfall"]["queries"][0]["hops"]) == 2


def test_capture_filters_the_report(tmp_path: Path) -> None:
    rows = robot()
    rows["captures"].append(capture("other.pcap", 60_000, 61_000))
    other = message(60_500, 1, "PUSH/PUT", "other/key") | {"capture": "other.pcap"}
    rows["messages"].append(other)
    data = chosen(tmp_path, rows, capture="other.pcap")
    assert data["overview"]["messages"] == 1
    assert data["findings"] == []
    assert [one["path"] for one in data["overview"]["captures"]] == ["other.pcap"]


def test_filter_without_a_match_gives_an_empty_report(tmp_path: Path) -> None:
    data = chosen(tmp_path, key="nobody")
    assert data["overview"]["messages"] == data["overview"]["sessions"] == 0
    assert data["findings"] == []
    assert [one["path"] for one in data["overview"]["captures"]] == [CAPTURE]


@pytest.mark.parametrize(
    ("selection", "cause"),
    [
        ({"key": "a//b"}, "a chunk is empty"),
        ({"node": "ffff"}, "no node 'ffff'"),
        ({"node": "a"}, "2 nodes begin with 'a': a12b, a5ce"),
        ({"capture": "robot.pcap"}, "did you mean 'robot.pcapng'"),
        ({"capture": "' OR 1=1 --"}, "no capture"),
    ],
)
def test_invalid_selection_is_an_error(
    tmp_path: Path, selection: dict[str, str], cause: str
) -> None:
    with pytest.raises(Exception, match=cause):
        chosen(tmp_path, None, **selection)


def test_a_lake_without_captures_or_tables(tmp_path: Path) -> None:
    empty = make(tmp_path / "empty.lake", {"captures": []})
    with pytest.raises(LakeError, match=r"empty\.lake: the lake is empty"):
        collect(empty, Selection())
    partly = make_partly(tmp_path / "partly.lake", without="queries")
    with pytest.raises(LakeError, match="no table 'queries'"):
        collect(partly, Selection())


def test_a_capture_without_messages_has_a_page(tmp_path: Path) -> None:
    data = collect(make(tmp_path / "a.lake", {"captures": [capture()]}), Selection())
    assert data["findings"] == []
    assert data["overview"]["messages"] == 0
    nothing = {"capture": "empty.pcap", "packets": 0}
    data = collect(make(tmp_path / "b.lake", {"captures": [nothing]}), Selection())
    assert data["axis"]["bins"] == 1


def test_a_page_that_cannot_be_written(tmp_path: Path) -> None:
    store = make(tmp_path / "a.lake", robot())
    with pytest.raises(LocalError, match="No such file or directory"):
        write(store, tmp_path / "nowhere" / "page.html", Selection())


def test_nodes_are_shown_with_their_role(data: dict[str, Any]) -> None:
    assert {tuple(pair) for pair in data["names"]["nodes"]} == {
        (ROUTER, "router"),
        (ASKER, "client"),
        (ARM, "client"),
    }


def test_a_query_answered_inside_its_node_has_not_failed(tmp_path: Path) -> None:
    rows = robot()
    asked = {"requester_zid": ASKER, "responder_zid": ROUTER, "key": "own/x", "verdict": "empty"}
    rows["queries"] = [row(1, 1, **asked, cause="own_queryable"), row(2, 2, **asked, cause="gone")]
    data = chosen(tmp_path, rows)
    [failed] = data["waterfall"]["queries"]
    assert (failed["packet"], failed["verdict"]) == (2, "empty")
    assert data["waterfall"]["failedInAll"] == 1
    severities = {one["text"]: one["severity"] for one in data["findings"]}
    assert severities["1 of 2 queries ended without any reply on own/x."] == "odd"
    [inside] = [text for text in severities if "no link shows the replies" in text]
    assert severities[inside] == "note"
