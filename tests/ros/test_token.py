"""Tokens of rmw_zenoh (the first from its design document) and of the bridge."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ros.dds import dds_type, mangled
from tests.ros.test_names import NAMES, TYPES, WORDS
from zenlake.keyexpr.canonical import validate
from zenlake.ros.names import BRIDGE_SLASH, RMW_SLASH
from zenlake.ros.qos import Qos
from zenlake.ros.token import KINDS, Entity, read_token

STRING = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
TALKER = "8b20917502ee955ac4476e0266340d5c"
PUBLISHER = (
    f"@ros2_lv/2/{TALKER}/0/10/MP/%/%/talker/%chatter/std_msgs::msg::dds_::String_/{STRING}/"
    "::,7:,:,:,,"
)


def read(key: str) -> Entity:
    entity = read_token(key)
    assert entity is not None
    return entity


def test_token_of_a_node_is_read() -> None:
    key = "@ros2_lv/2/aac3178e146ba6f1fc6e6a4085e77f21/0/0/NN/%/%/listener"
    assert read(key) == Entity(
        "rmw_zenoh",
        "node",
        2,
        "aac3178e146ba6f1fc6e6a4085e77f21",
        0,
        0,
        "/",
        "/",
        "listener",
        own_key=key,
    )


def test_token_of_a_publisher_is_read() -> None:
    assert read(PUBLISHER) == Entity(
        "rmw_zenoh",
        "publisher",
        2,
        TALKER,
        0,
        10,
        "/",
        "/",
        "talker",
        "/chatter",
        "std_msgs/msg/String",
        STRING,
        "::,7:,:,:,,",
        Qos("reliable", "volatile", "keep_last", 7, None, None, "automatic", None),
        f"2/chatter/std_msgs::msg::dds_::String_/{STRING}",
        PUBLISHER,
    )


def test_token_of_a_service_in_a_namespace_is_read() -> None:
    whose = "@ros2_lv/0/a1/3/10/SS/%secret/%robot%one/calc"
    entity = read(f"{whose}/%robot%one%add/e::srv::dds_::Add_/H/::,10:,:,:,,")
    assert (entity.kind, entity.enclave, entity.namespace) == (
        "service_server",
        "/secret",
        "/robot/one",
    )
    assert (entity.name, entity.type) == ("/robot/one/add", "e/srv/Add")
    assert entity.data_key == "0/robot/one/add/e::srv::dds_::Add_/H"
    assert entity.unread is None


def test_prefix_precedes_the_data_key_too() -> None:
    entity = read(f"fleet/7/{PUBLISHER}")
    assert entity.data_key == f"fleet/7/2/chatter/std_msgs::msg::dds_::String_/{STRING}"
    assert entity.own_key == PUBLISHER


def test_tokens_of_the_bridge_are_read() -> None:
    assert read("@/b1/@ros2_lv") == Entity("ros2dds", "bridge", zid="b1", own_key="@/b1/@ros2_lv")
    entity = read("@/b1/@ros2_lv/MP/bot§scan/sensor_msgs§msg§LaserScan/:0:0:0,5:typehash=RIHS01_a;")
    assert (entity.source, entity.kind, entity.zid) == ("ros2dds", "publisher", "b1")
    assert (entity.name, entity.data_key) == ("/bot/scan", "bot/scan")
    assert (entity.type, entity.type_hash) == ("sensor_msgs/msg/LaserScan", "RIHS01_a")
    assert entity.policies == Qos("best_effort", "volatile", "keep_last", 5)
    assert entity.unread is None


@pytest.mark.parametrize(
    ("kind", "data_key"),
    [
        ("SS", "bot/add"),
        ("SC", "bot/add"),
        ("AS", "bot/add/_action/*"),
        ("AC", "bot/add/_action/*"),
    ],
)
def test_bridged_services_and_actions_are_read(kind: str, data_key: str) -> None:
    entity = read(f"fleet/@/b1/@ros2_lv/{kind}/bot§add/e§srv§Add")
    assert entity.kind == KINDS[kind]
    assert (entity.name, entity.type) == ("/bot/add", "e/srv/Add")
    assert entity.data_key == f"fleet/{data_key}"
    assert (entity.qos, entity.unread) == (None, None)
    validate(data_key)


@pytest.mark.parametrize(
    ("key", "unread"),
    [
        ("@ros2_lv", "1 chunks instead of 9 or 13"),
        ("@ros2_lv/0/z/0/0/NN/%/%/n/more", "1 chunks after the node"),
        ("@ros2_lv/0/z/0/0/XX/%/%/n", "kind 'XX' is not known; 0 chunks after the node instead"),
        ("@ros2_lv/0/z/0/0/AS/%/%/n/t/t/h/::,:,:,:,,", "kind 'AS' is not known"),
        ("@ros2_lv/x/z/0/0/NN/%/%/n", "domain 'x' is not a number"),
        ("@ros2_lv/0/z/-1/1e3/NN/%/%/n", "node '-1' is not a number; id '1e3' is not a number"),
        ("@ros2_lv/0/z/0/0/MP/%/%/n/%t", "1 chunks after the node instead of 4"),
        (f"{PUBLISHER}/more", "1 chunks after the QoS"),
        (f"{PUBLISHER[:-11]}bad", "QoS has 1 parts instead of 6"),
        ("@/z/@ros2_lv/NN/n", "kind 'NN' is not known"),
        ("@/z/@ros2_lv/MP/t/T", "3 chunks after @ros2_lv instead of 4"),
        ("@/z/@ros2_lv/SS/t/T/more", "1 chunks too many"),
    ],
)
def test_invalid_token_has_a_reason(key: str, unread: str) -> None:
    assert unread in (read(key).unread or "")


def test_valid_fields_of_an_invalid_token_are_read() -> None:
    entity = read("@ros2_lv/x/z/0/3/MP/%/%/n/%t/a::msg::dds_::B_/H/::,2:,:,:,,")
    assert (entity.node, entity.name, entity.policies.depth) == ("n", "/t", 2)
    assert entity.data_key is None


@pytest.mark.parametrize("key", ["", "a/b", "x@ros2_lv/0", "@ros2_lvx/0", "@/z/router"])
def test_other_keys_are_not_ros_tokens(key: str) -> None:
    assert read_token(key) is None


NUMBERS = st.integers(0, 2**63 - 1)


@given(NUMBERS, WORDS, NUMBERS, NUMBERS, st.sampled_from(["MP", "MS", "SS", "SC"]), st.data())
def test_any_entity_of_rmw_zenoh_survives_encoding(
    domain: int, zid: str, node_id: int, entity_id: int, kind: str, data: st.DataObject
) -> None:
    enclave, namespace, name = data.draw(NAMES), data.draw(NAMES), data.draw(NAMES)
    node, ros_type, type_hash = data.draw(WORDS), data.draw(TYPES), data.draw(WORDS)
    enclaves, spaces, names = (mangled(one, RMW_SLASH) for one in (enclave, namespace, name))
    key = f"@ros2_lv/{domain}/{zid}/{node_id}/{entity_id}/{kind}/{enclaves}/{spaces}/{node}"
    entity = read(f"{key}/{names}/{dds_type(ros_type)}/{type_hash}/::,:,:,:,,")
    assert entity[:12] == (
        "rmw_zenoh",
        KINDS[kind],
        domain,
        zid,
        node_id,
        entity_id,
        enclave,
        namespace,
        node,
        name,
        ros_type,
        type_hash,
    )
    assert entity.unread is None


@given(WORDS, st.sampled_from(["SS", "SC", "AS", "AC"]), NAMES, TYPES)
def test_any_service_of_the_bridge_survives_encoding(
    zid: str, kind: str, name: str, ros_type: str
) -> None:
    chunks = (mangled(one, BRIDGE_SLASH) for one in (name.removeprefix("/"), ros_type))
    entity = read("/".join(("@", zid, "@ros2_lv", kind, *chunks)))
    assert (entity.zid, entity.kind, entity.name, entity.type) == (zid, KINDS[kind], name, ros_type)
    assert entity.unread is None


CHUNKS = st.sampled_from(
    ["@ros2_lv", "@", "0", "z", "NN", "MP", "MS", "SS", "AS", "%", "::,:,:,:,,", ":::", "", "§a"]
)
KEYS = st.lists(CHUNKS | st.text(max_size=8), max_size=16).map("/".join) | st.text()


@given(KEYS)
def test_any_text_is_an_entity_or_has_a_reason(key: str) -> None:
    entity = read_token(key)
    assert (entity is None) == ("@ros2_lv" not in key.split("/"))
    if entity is not None:
        assert entity.kind is not None or entity.unread is not None
        assert all(one is None or 0 <= one < 1 << 63 for one in (entity.domain, entity.node_id))
