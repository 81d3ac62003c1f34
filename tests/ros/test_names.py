"""Names encoded in keys, and decoded again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ros.dds import dds_type, mangled
from zenlake.ros.names import (
    BRIDGE_SLASH,
    RMW_SLASH,
    demangled,
    ros_type,
    topic_key,
    type_hash,
)

WORDS = st.from_regex(r"[a-zA-Z][a-zA-Z0-9_]{0,12}", fullmatch=True)
NAMES = st.lists(WORDS, max_size=5).map(lambda words: "/" + "/".join(words))
TYPES = st.builds("{}/{}/{}".format, WORDS, st.sampled_from(["msg", "srv", "action"]), WORDS)


@given(NAMES, st.sampled_from([RMW_SLASH, BRIDGE_SLASH]))
def test_name_survives_encoding_in_a_chunk(name: str, slash: str) -> None:
    chunk = mangled(name, slash)
    assert "/" not in chunk
    assert demangled(chunk, slash) == name


@given(TYPES)
def test_type_survives_conversion_to_dds(name: str) -> None:
    written = dds_type(name)
    assert "/" not in written
    assert written.endswith("_")
    assert ros_type(written) == name


@given(TYPES)
def test_ros_type_is_unchanged(name: str) -> None:
    assert ros_type(name) == name


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("std_msgs::msg::dds_::String_", "std_msgs/msg/String"),
        ("example_interfaces::srv::dds_::AddTwoInts_", "example_interfaces/srv/AddTwoInts"),
        ("rcl_interfaces::msg::dds_::Log_", "rcl_interfaces/msg/Log"),
        ("std_msgs::msg::String", "std_msgs::msg::String"),
        ("EMPTY_TOPIC_TYPE", None),
        ("", ""),
    ],
)
def test_written_types_are_converted(written: str, name: str | None) -> None:
    assert ros_type(written) == name


def test_placeholder_is_not_a_hash() -> None:
    assert type_hash("EMPTY_TOPIC_HASH") is None
    assert type_hash("RIHS01_ab") == "RIHS01_ab"


def test_data_key_keeps_the_slashes_of_the_name() -> None:
    assert topic_key("", 3, "/robot/scan", "t", "h") == "3/robot/scan/t/h"
    assert topic_key("fleet/", 0, "/scan", "t", "h") == "fleet/0/scan/t/h"
