"""The runtime functions and classes that layouts name, found by name."""

from __future__ import annotations

import builtins
from functools import cache
from typing import Any

from zenlake.wire import message, primitives
from zenlake.wire._generated import data, declare, network, scouting, structures, transport
from zenlake.wire.values import (
    choices,
    encoding,
    endpoint,
    qos,
    qos_link,
    queryable_info,
    resolution,
    timestamp,
    whatami,
    zenoh_id,
)

_MODULES = (
    *(builtins, primitives, message, choices, encoding, endpoint, qos, qos_link, queryable_info),
    *(resolution, timestamp, whatami, zenoh_id),
    *(structures, data, declare, network, scouting, transport),
)


@cache
def runtime_name(name: str) -> Any:
    """A reader, writer or conversion of a WireType, or the generated class of a definition."""
    for module in _MODULES:
        if hasattr(module, name):
            return getattr(module, name)
    raise KeyError(name)
