"""CDR payloads of the messages that the nodes of `traffic` send, encoded by rosbags."""

from __future__ import annotations

import struct
from functools import cache
from typing import Any

import numpy as np
from rosbags.typesys import Stores, get_typestore

_HEADER = b"\x00\x01\x00\x00"
"""CDR, little-endian."""


@cache
def store() -> Any:
    return get_typestore(Stores.ROS2_JAZZY)


def type_hash(name: str) -> str:
    return str(store().hash_rihs01(name))


def packed(name: str, *values: Any) -> bytes:
    return bytes(store().serialize_cdr(store().types[name](*values), name))


def of(name: str, *values: Any) -> Any:
    """A message inside another one."""
    return store().types[name](*values)


def header(number: int, frame: str) -> Any:
    return of("std_msgs/msg/Header", of("builtin_interfaces/msg/Time", number, 500), frame)


def scan(number: int) -> bytes:
    ranges = np.array([0.5 * number, np.inf, 1.25], np.float32)
    angles = (-1.57, 1.57, 0.1)
    return packed(
        "sensor_msgs/msg/LaserScan",
        header(number, "laser"),
        *angles,
        *(0.0, 0.1, 0.05, 30.0),
        ranges,
        np.zeros(0, np.float32),
    )


def odometry(number: int) -> bytes:
    def vector(x: float) -> Any:
        return of("geometry_msgs/msg/Vector3", x, 0.0, 0.0)

    point = of("geometry_msgs/msg/Point", float(number), 0.0, 0.0)
    turn = of("geometry_msgs/msg/Quaternion", 0.0, 0.0, 0.0, 1.0)
    unknown = np.zeros(36)
    pose = of("geometry_msgs/msg/Pose", point, turn)
    twist = of("geometry_msgs/msg/Twist", vector(0.1), vector(0.0))
    return packed(
        "nav_msgs/msg/Odometry",
        header(number, "odom"),
        "base_link",
        of("geometry_msgs/msg/PoseWithCovariance", pose, unknown),
        of("geometry_msgs/msg/TwistWithCovariance", twist, unknown),
    )


def integers(*values: int) -> bytes:
    """A request or reply of AddTwoInts, whose type rosbags lacks."""
    return _HEADER + struct.pack(f"<{len(values)}q", *values)


def sum_of(request: bytes) -> bytes:
    return integers(sum(struct.unpack("<2q", request[len(_HEADER) :])))
