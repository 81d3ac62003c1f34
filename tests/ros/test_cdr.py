"""Payloads as JSON, for valid and for arbitrary bytes."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

pytest.importorskip("rosbags", reason="needs zenlake[ros]")

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.ros import messages
from zenlake.limits import ROS_PAYLOAD_BYTES_MAX
from zenlake.ros.cdr import payload_json, why_no_json
from zenlake.ros.definitions import _by_name

SCAN = "sensor_msgs/msg/LaserScan"


def read(name: str, payload: bytes) -> Any:
    assert why_no_json(name, payload) is None
    text = payload_json(name, payload)
    assert text is not None
    return json.loads(text)


def test_laser_scan_is_converted() -> None:
    assert read(SCAN, messages.scan(3)) == {
        "header": {"stamp": {"sec": 3, "nanosec": 500}, "frame_id": "laser"},
        "angle_min": -1.57,
        "angle_max": 1.57,
        "angle_increment": 0.1,
        "time_increment": 0.0,
        "scan_time": 0.1,
        "range_min": 0.05,
        "range_max": 30.0,
        "ranges": [1.5, "inf", 1.25],
        "intensities": [],
    }


def test_numbers_keep_their_precision() -> None:
    odometry = read("nav_msgs/msg/Odometry", messages.odometry(7))
    assert odometry["pose"]["pose"]["position"] == {"x": 7.0, "y": 0.0, "z": 0.0}
    assert odometry["pose"]["covariance"] == [0.0] * 36
    third = messages.packed("std_msgs/msg/Float64", 1 / 3)
    assert read("std_msgs/msg/Float64", third) == {"data": 1 / 3}
    short = messages.packed("std_msgs/msg/Float32", np.float32(1 / 3))
    assert payload_json("std_msgs/msg/Float32", short) == '{"data": 0.33333334}'


@pytest.mark.parametrize(("value", "text"), [(math.nan, "nan"), (-math.inf, "-inf")])
def test_numbers_that_json_lacks_are_strings(value: float, text: str) -> None:
    assert read("std_msgs/msg/Float64", messages.packed("std_msgs/msg/Float64", value)) == {
        "data": text
    }


def test_byte_arrays_are_base64_and_other_integers_are_numbers() -> None:
    layout = messages.of("std_msgs/msg/MultiArrayLayout", [], 0)
    image = messages.packed("std_msgs/msg/UInt8MultiArray", layout, np.array([1, 2, 255], np.uint8))
    assert read("std_msgs/msg/UInt8MultiArray", image)["data"] == "AQL/"
    grid = messages.packed("std_msgs/msg/Int8MultiArray", layout, np.array([-1, 100], np.int8))
    assert read("std_msgs/msg/Int8MultiArray", grid)["data"] == [-1, 100]


def test_nested_messages_and_strings_are_converted() -> None:
    names = messages.of("std_msgs/msg/MultiArrayDimension", 'a "b"\n§', 2, 3)
    layout = messages.of("std_msgs/msg/MultiArrayLayout", [names, names], 1)
    payload = messages.packed("std_msgs/msg/Float32MultiArray", layout, np.zeros(0, np.float32))
    dimension = {"label": 'a "b"\n§', "size": 2, "stride": 3}
    wanted = {"layout": {"dim": [dimension] * 2, "data_offset": 1}, "data": []}
    assert read("std_msgs/msg/Float32MultiArray", payload) == wanted


def test_message_without_fields_is_an_empty_object() -> None:
    assert read("std_msgs/msg/Empty", b"\x00\x01\x00\x00\x00") == {}


def test_both_byte_orders_are_read() -> None:
    assert read("std_msgs/msg/Int32", b"\x00\x01\x00\x00\x01\x02\x00\x00") == {"data": 0x201}
    assert read("std_msgs/msg/Int32", b"\x00\x00\x00\x00\x00\x00\x02\x01") == {"data": 0x201}


@pytest.mark.parametrize(
    ("name", "payload", "reason"),
    [
        ("a/msg/B", b"", "type 'a/msg/B' is not known"),
        (
            SCAN,
            b"",
            "not a valid sensor_msgs/msg/LaserScan: Invalid or unsupported CDR encapsulation.",
        ),
        (SCAN, messages.scan(1)[:-1], "not a valid sensor_msgs/msg/LaserScan"),
        (SCAN, messages.scan(1) + bytes(4), "size mismatch"),
        (
            "std_msgs/msg/String",
            b"\x00\x01\x00\x00\xff\xff\xff\xff",
            "not a valid std_msgs/msg/String",
        ),
        (
            "std_msgs/msg/String",
            b"\x00\x01\x00\x00\x02\x00\x00\x00\xff\x00",
            "not a valid std_msgs",
        ),
    ],
)
def test_payload_that_cannot_be_decoded_has_a_reason(
    name: str, payload: bytes, reason: str
) -> None:
    assert payload_json(name, payload) is None
    assert reason in (why_no_json(name, payload) or "")


def test_payload_above_the_limit_is_not_decoded() -> None:
    payload = bytes(ROS_PAYLOAD_BYTES_MAX + 1)
    assert payload_json(SCAN, payload) is None
    assert "above the limit of 16777216" in (why_no_json(SCAN, payload) or "")


KNOWN = sorted(_by_name())
HEADERS = st.sampled_from([b"\x00\x00\x00\x00", b"\x00\x01\x00\x00", b""])


@given(st.sampled_from(KNOWN), HEADERS, st.binary(max_size=200))
def test_any_bytes_have_json_or_a_reason(name: str, header: bytes, rest: bytes) -> None:
    payload = header + rest
    text, reason = payload_json(name, payload), why_no_json(name, payload)
    assert (text is None) != (reason is None)
    if text is not None:
        json.loads(text, parse_constant=lambda word: pytest.fail(word))
    else:
        assert reason is not None
        assert "\n" not in reason


@given(st.integers(0, len(messages.scan(1)) - 1), st.integers(1, 255))
def test_damaged_message_has_json_or_a_reason(place: int, change: int) -> None:
    payload = bytearray(messages.scan(1))
    payload[place] ^= change
    text, reason = payload_json(SCAN, bytes(payload)), why_no_json(SCAN, bytes(payload))
    assert (text is None) != (reason is None)
    assert text is None or isinstance(json.loads(text), dict)
