"""Serialization, as in `zenoh.ext`. Advanced publishers and subscribers are not offered."""

from __future__ import annotations

from zenlake.api.serialization.numbers import (
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    Int128,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    UInt128,
)
from zenlake.api.serialization.serialization import ZDeserializeError, z_deserialize, z_serialize

__all__ = [
    "Float32",
    "Float64",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "Int128",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
    "UInt128",
    "ZDeserializeError",
    "z_deserialize",
    "z_serialize",
]
