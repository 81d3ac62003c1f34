"""Names as they are written in keys: slashes replaced, types as DDS calls them.

A chunk of a key cannot hold a slash, so rmw_zenoh writes `%` for it and the bridge `§`. No name
of ROS holds either. Types are written by rmw_zenoh as in DDS: `sensor_msgs::msg::dds_::LaserScan_`
is `sensor_msgs/msg/LaserScan`.
"""

from __future__ import annotations

import re
from typing import Final

RMW_SLASH: Final = "%"
BRIDGE_SLASH: Final = "§"
_DDS_TYPE: Final = re.compile(r"(.+)::dds_::([^:]+)_", re.DOTALL)
_NO_TYPE: Final = {"EMPTY_TOPIC_TYPE", "EMPTY_TOPIC_HASH"}
"""What rmw_zenoh writes where an entity has no type; a chunk cannot be empty."""


def mangled(name: str, slash: str) -> str:
    return name.replace("/", slash)


def demangled(chunk: str, slash: str) -> str:
    return chunk.replace(slash, "/")


def dds_type(ros_type: str) -> str:
    """`a/msg/B` as DDS names it; a name without a package stays as it is."""
    package, slash, last = ros_type.rpartition("/")
    return f"{package.replace('/', '::')}::dds_::{last}_" if slash else ros_type


def ros_type(written: str) -> str | None:
    """A type's name in ROS, from either spelling; None where there is said to be none."""
    if written in _NO_TYPE:
        return None
    found = _DDS_TYPE.fullmatch(written)
    return f"{found[1].replace('::', '/')}/{found[2]}" if found else written


def type_hash(written: str) -> str | None:
    return None if written in _NO_TYPE else written


def topic_key(prefix: str, domain: int, name: str, written_type: str, written_hash: str) -> str:
    """The key that rmw_zenoh sends the data of a topic or service on."""
    return f"{prefix}{domain}/{name.strip('/')}/{written_type}/{written_hash}"
