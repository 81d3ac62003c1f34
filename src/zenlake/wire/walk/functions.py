"""The runtime functions and classes that layouts name, found by name."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import cache
from typing import Any

from zenlake.wire import message, primitives
from zenlake.wire._generated import data, declare, network, scouting, structures, transport
from zenlake.wire.message import Message
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

_LIBRARIES = (
    *(builtins, primitives, message, choices, encoding, endpoint, qos, qos_link, queryable_info),
    *(resolution, timestamp, whatami, zenoh_id),
)
_GENERATED = (structures, data, declare, network, scouting, transport)


@cache
def function_named(name: str) -> Callable[..., Any]:
    """A reader, writer or conversion of a WireType."""
    for library in _LIBRARIES:
        if hasattr(library, name):
            return getattr(library, name)  # type: ignore[no-any-return]  # found by name
    raise KeyError(name)


@cache
def class_named(name: str) -> Callable[..., Message]:
    """The constructor of the generated class, by the name of its definition."""
    for module in _GENERATED:
        if hasattr(module, name):
            return getattr(module, name)  # type: ignore[no-any-return]  # found by name
    raise KeyError(name)
