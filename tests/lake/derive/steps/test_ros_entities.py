"""Entities of ROS, from hand-made declarations."""

from __future__ import annotations

from typing import Any

from tests.lake.derive.steps.cases import (
    MS,
    Row,
    Staged,
    by_case,
    columns,
    declared_shape,
    frame,
    shape,
    staged,
)
from zenlake.lake.derive.duck import Engine
from zenlake.lake.derive.steps import ros_entities
from zenlake.ros import gid_of

NODE = "@ros2_lv/7/z1/0/0/NN/%/%bot/cam"
PUBLISHER = "@ros2_lv/7/z1/0/3/MP/%/%bot/cam/%image/a::msg::dds_::B_/RIHS01_x/2:1:,5:1,2:,:,,"
BRIDGED = "@/z2/@ros2_lv/MS/odom/nav_msgs§msg§Odometry/:1:0:0,10"
ACTION = "@/z2/@ros2_lv/AC/go/n§action§Go"


def declared(capture: str, seq: int, key: str | None, **more: Any) -> Row:
    row = {"capture": capture, "session": "s", "link": "l", "packet": seq, "seq": seq, "key": key}
    times = {"time_ns": seq * MS, "declared_ns": seq * MS}
    return {**row, **times, "entity": "token", "sender_zid": "z1", "receiver_zid": "r", **more}


def staged_cases() -> Staged:
    """Events of tokens, from which the declarations are derived first."""
    keys = [NODE, PUBLISHER, BRIDGED, ACTION, NODE, "my@ros2_lv/x", "@ros2_lv/0", "group/alive"]
    rows = [
        {"seq": number, "entity_id": number, "identity": str(number), "key": key}
        for number, key in enumerate(keys, 1)
    ]
    defaults = {"entity": "token", "owner": "0", "is_answer": False, "is_end": False}
    return {"declare_events": staged({"tokens": rows}, key_identity="", **defaults)}


def test_entities_have_the_fields_of_their_tokens(engine: Engine) -> None:
    rows = [
        declared("rmw", 1, NODE),
        declared("rmw", 2, PUBLISHER, undeclared_ns=9 * MS, ended_by="session"),
        declared("dds", 1, BRIDGED),
        declared("dds", 2, ACTION),
    ]
    found = ros_entities.build(frame(engine, "declarations", rows))
    assert shape(found) == declared_shape("ros_entities")
    cases = by_case(found)
    node, publisher = cases["rmw"]
    assert (node["kind"], node["namespace"], node["node"], node["unread"]) == (
        "node",
        "/bot",
        "cam",
        None,
    )
    assert publisher == {
        "capture": "rmw",
        "session": "s",
        "link": "l",
        "packet": 2,
        "time_ns": 2 * MS,
        "told_by_zid": "z1",
        "told_to_zid": "r",
        "source": "rmw_zenoh",
        "kind": "publisher",
        "domain": 7,
        "zid": "z1",
        "node_id": 0,
        "entity_id": 3,
        "enclave": "/",
        "namespace": "/bot",
        "node": "cam",
        "name": "/image",
        "type": "a/msg/B",
        "type_hash": "RIHS01_x",
        "qos": "2:1:,5:1,2:,:,,",
        "reliability": "best_effort",
        "durability": "transient_local",
        "history": "keep_last",
        "depth": 5,
        "deadline_ns": 1_000_000_002,
        "lifespan_ns": None,
        "liveliness": "automatic",
        "lease_ns": None,
        "gid": gid_of(PUBLISHER),
        "data_key": "7/image/a::msg::dds_::B_/RIHS01_x",
        "token": PUBLISHER,
        "declared_ns": 2 * MS,
        "undeclared_ns": 9 * MS,
        "ended_by": "session",
        "first_told": True,
        "unread": None,
        "seq": 2,
    }
    subscription, client = cases["dds"]
    assert (subscription["source"], subscription["kind"]) == ("ros2dds", "subscription")
    assert (subscription["zid"], subscription["name"]) == ("z2", "/odom")
    assert (subscription["reliability"], subscription["depth"]) == ("reliable", 10)
    assert (subscription["gid"], subscription["data_key"]) == (None, "odom")
    assert (client["kind"], client["type"]) == ("action_client", "n/action/Go")
    assert (client["qos"], client["data_key"]) == (None, "go/_action/*")


def test_every_announcement_of_a_ros_token_has_a_row(engine: Engine) -> None:
    """Only tokens of ROS have a row, and none of them is dropped."""
    rows = [
        declared("hops", 3, NODE, session="s2", sender_zid="r"),
        declared("hops", 1, NODE),
        declared("hops", 2, NODE, session="s3", sender_zid="r"),
        declared("others", 1, "group/alive"),
        declared("others", 2, None),
        declared("others", 3, NODE, entity="keyexpr"),
        declared("others", 4, "my@ros2_lv/x"),
        declared("others", 5, "@ros2_lv/0"),
    ]
    found = by_case(ros_entities.build(frame(engine, "declarations", rows)))
    assert columns(found["hops"], "session", "first_told", "told_by_zid") == [
        ("s", True, "z1"),
        ("s3", False, "r"),
        ("s2", False, "r"),
    ]
    assert columns(found["others"], "token", "kind", "source", "unread") == [
        ("my@ros2_lv/x", None, None, "it only looks like a token of ROS"),
        ("@ros2_lv/0", None, "rmw_zenoh", "2 chunks instead of 9 or 13"),
    ]
