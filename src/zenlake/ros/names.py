"""Names as they are encoded in keys: slashes are replaced, types have their DDS names.

A chunk of a key cannot contain a slash, so rmw_zenoh writes `%` for it and the bridge `§`. No ROS
name contains either. rmw_zenoh writes types as DDS does: `sensor_msgs::msg::dds_::LaserScan_`
"""

from __future__ import annotations

import re
from typing import Final

RMW_SLASH: Final = "%"
BRIDGE_SLASH: Final = "§"
_DDS_TYPE: Final = re.compile(r"(.+)::dds_::([^:]+)_", re.DOTALL)
_NO_TYPE: Final = {"EMPTY_TOPIC_TYPE", "EMPTY_TOPIC_HASH"}
"""Placeholders of rmw_zenoh for an entity without a type; a chunk cannot be empty."""


def demangled(chunk: str, slash: str) -> str:
    return chunk.replace(slash, "/")


def ros_type(written: str) -> str | None:
    """The ROS name of a type, from either spelling; None for the placeholder of no type."""
    if written in _NO_TYPE:
        return None
    found = _DDS_TYPE.fullmatch(written)
    return f"{found[1].replace('::', '/')}/{found[2]}" if found else written


def type_hash(written: str) -> str | None:
    return None if written in _NO_TYPE else written


def topic_key(prefix: str, domain: int, name: str, written_type: str, written_hash: str) -> str:
    """The key on which rmw_zenoh sends the data of a topic or service."""
    return f"{prefix}{domain}/{name.strip('/')}/{written_type}/{written_hash}"
