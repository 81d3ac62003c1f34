"""ROS nodes on a real router: the capture contains every token and message that they sent."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("zenoh", reason="eclipse-zenoh has no wheel for this Python")
pytest.importorskip("rosbags", reason="needs zenlake[ros]")
pytest.importorskip("xxhash", reason="needs zenlake[sql]")

from tests.ros import traffic
from tests.ros.robot import Notes
from zenlake import trace
from zenlake.ros import gid_of, payload_json, read_attachment, read_token
from zenlake.trace import MessageSeen
from zenlake.trace.fields import FIELDS
from zenlake.trace.timelines.declarations import declarations

pytestmark = [pytest.mark.real, pytest.mark.xdist_group("ros")]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Notes]:
    capture, notes = tmp_path_factory.mktemp("ros") / "ros2.pcapng", Notes()
    traffic.record(capture, notes)
    return capture, notes


def test_every_token_is_read(recorded: tuple[Path, Notes]) -> None:
    capture, notes = recorded
    zids = {row["node"]: row["zid"] for row in notes.lists["nodes"]}
    declared = [row for row in notes.lists["events"] if row["op"] == "declare_token"]
    sent = [
        life
        for life in declarations(trace.open(str(capture)))
        if life.entity == "token" and life.sender_zid in zids.values()
    ]
    for row in declared:
        entity = read_token(row["key"])
        assert entity is not None
        assert entity.unread is None
        assert entity.zid == zids[row["node"]]
        assert [one for one in sent if one.key == row["key"] and one.sender_zid == entity.zid]
    kinds = Counter(entity.kind for row in declared if (entity := read_token(row["key"])))
    assert kinds == {
        "node": 4,
        "publisher": 3,
        "subscription": 3,
        "service_server": 1,
        "service_client": 1,
        "bridge": 1,
        "action_server": 1,
    }


def test_gid_of_an_attachment_identifies_the_publisher(recorded: tuple[Path, Notes]) -> None:
    capture, notes = recorded
    tokens = {
        gid_of(row["key"]): row["key"]
        for row in notes.lists["events"]
        if row["op"] == "declare_token"
    }
    lidar = next(row["zid"] for row in notes.lists["nodes"] if row["node"] == "lidar")
    numbers = []
    for event in trace.open(str(capture)):
        if (
            isinstance(event, MessageSeen)
            and event.kind == "PUSH/PUT"
            and event.sender_zid == lidar
        ):
            attached = read_attachment(FIELDS["attachment"].value_of(event))
            assert "/MP/%/%robot/lidar/%scan/" in tokens[attached.gid or ""]
            numbers.append(attached.sequence_number)
            text = payload_json(event.key or "", FIELDS["payload"].value_of(event))
            assert text is not None
            assert f'"sec": {attached.sequence_number},' in text
    assert numbers == [one for one in range(1, traffic.MESSAGES + 1) if one not in traffic.LOST]
