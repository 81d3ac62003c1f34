"""ROS in the bundled capture: the questions of docs/ros.md, compared with the sidecar."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.lake.contents.tables import rows_of_query
from tests.paths import DOCS
from tests.trace.sidecar import sidecar_of
from zenlake.lake import open as open_lake
from zenlake.lake.errors import LakeError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TEXT = (DOCS / "ros.md").read_text("utf-8")
QUESTIONS = dict(
    re.findall(r"\n(## .*?|Keys of the bridge.*?)\n.*?```sql\n(.*?)```", _TEXT, re.DOTALL)
)
SCAN, ALL, CALLS, CONTENT, BRIDGE = QUESTIONS.values()


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_both_engines_return_the_same_rows(question: str, lake: Path, spark: SparkSession) -> None:
    if "ros_json" in question:
        pytest.importorskip("rosbags", reason="needs zenlake[ros]")
    on_spark = [tuple(row) for row in open_lake(lake, spark).sql(question).collect()]
    assert on_spark == rows_of_query(lake, question)
    assert on_spark


def test_publishers_and_losses_are_found(lake: Path) -> None:
    found = rows_of_query(lake, SCAN)
    picture = re.search(r"ros2.pcapng.gz`:\n\n```\n.*?\n---.*?\n(.*?)```", _TEXT, re.DOTALL)
    assert picture is not None
    assert [[str(value) for value in row] for row in found] == [
        line.split() for line in picture[1].splitlines()
    ]


def test_each_declared_token_has_one_row(lake: Path) -> None:
    sidecar = sidecar_of("ros2")
    text = "SELECT token, ended_by, zid, unread FROM ros_entities WHERE first_told"
    found = {row[0]: row[1:] for row in rows_of_query(lake, text)}
    declared = {row["key"]: sidecar.zids[row["node"]] for row in sidecar.of("declare_token")}
    undeclared = {row["handle"] for row in sidecar.of("undeclare")} & declared.keys()
    assert len(undeclared) == 1
    assert found == {
        key: ("undeclare" if key in undeclared else "session", zid, None)
        for key, zid in declared.items()
    }
    assert len(rows_of_query(lake, ALL)) == len(declared)


def test_service_calls_and_payloads_are_decoded(lake: Path) -> None:
    pytest.importorskip("rosbags", reason="needs zenlake[ros]")
    [call] = rows_of_query(lake, CALLS)
    assert call[:5] == (
        "viewer",
        "lidar",
        "/add_two_ints",
        "example_interfaces/srv/AddTwoInts",
        "answered",
    )
    for _, number, age_ms, message in rows_of_query(lake, CONTENT):
        assert 0 <= age_ms < 1_000
        assert json.loads(message)["ranges"] == [0.5 * number, "inf", 1.25]
    bridged = rows_of_query(lake, BRIDGE)
    assert {row[:2] for row in bridged} == {("/odom", "nav_msgs/msg/Odometry")}
    numbers = [json.loads(row[2])["pose"]["pose"]["position"]["x"] for row in bridged]
    assert numbers == [1, 2, 3, 4, 5]


def test_functions_return_null_for_null(lake: Path, spark: SparkSession) -> None:
    question = (
        "SELECT ros_gid(NULL), ros_sequence(NULL), ros_source_ns(NULL), ros_attachment(NULL),"
        " ros_json('std_msgs/msg/String', NULL), ros_unread(NULL, payload) FROM samples LIMIT 1"
    )
    assert rows_of_query(lake, question) == [(None,) * 6]
    assert [tuple(row) for row in open_lake(lake, spark).sql(question).collect()] == [(None,) * 6]


def test_missing_extra_is_an_error(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rosbags.typesys", None)
    with pytest.raises(LakeError, match=r"SQL: .*pip install 'zenlake\[ros\]'"):
        rows_of_query(lake, CONTENT)
    assert rows_of_query(lake, SCAN)
