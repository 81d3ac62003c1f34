"""Attachments of messages: sequence number, source time and publisher.

    i64 number, i64 nanoseconds, 0x10, 16 bytes of gid           rmw_zenoh, from 0.2.4 on
    the same, each with its name as a string before it           rmw_zenoh before
    "rqh", u64 client, i64 number, whether little-endian         requests over the bridge to DDS

Integers of rmw_zenoh are little-endian; a length precedes strings and byte strings
(the serialization of zenoh-ext).
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Final, NamedTuple

PLAIN: Final = "rmw_zenoh"
NAMED: Final = "rmw_zenoh_named"
BRIDGE: Final = "ros2dds"
_GID_BYTES: Final = 16
_NUMBER: Final = b"\x0fsequence_number"
_TIME: Final = b"\x10source_timestamp"
_GID: Final = b"\x0asource_gid"
_PLAIN_BYTES: Final = 8 + 8 + 1 + _GID_BYTES
_NAMED_BYTES: Final = _PLAIN_BYTES + len(_NUMBER) + len(_TIME) + len(_GID)
_REQUEST: Final = b"rqh"
_REQUEST_BYTES: Final = len(_REQUEST) + 17
# Cached, because a query on a row decodes each part of its attachment separately.
_REMEMBERED: Final = 1 << 12


class Attachment(NamedTuple):
    """The parts of an attachment; `unread` is the reason if it could not be decoded."""

    layout: str | None = None
    sequence_number: int | None = None
    source_ns: int | None = None
    gid: str | None = None
    unread: str | None = None

    def to_json(self) -> str:
        return json.dumps({name: one for name, one in self._asdict().items() if one is not None})


def read_attachment(data: bytes) -> Attachment:
    """Decodes an attachment; for bytes in no known layout, only `unread` is set."""
    return _read(data) if len(data) <= _NAMED_BYTES else _unknown(data)


@lru_cache(_REMEMBERED)
def _read(data: bytes) -> Attachment:
    if len(data) == _PLAIN_BYTES and data[16] == _GID_BYTES:
        return Attachment(PLAIN, _signed(data[:8]), _signed(data[8:16]), data[17:].hex())
    if data.startswith(_NUMBER):
        return _read_named(data)
    if data.startswith(_REQUEST) and len(data) == _REQUEST_BYTES:
        is_little = data[-1] != 0
        number = int.from_bytes(data[11:19], "little" if is_little else "big", signed=True)
        return Attachment(BRIDGE, number, None, data[3:11].hex())
    return _unknown(data)


def _unknown(data: bytes) -> Attachment:
    return Attachment(unread=f"{len(data)} bytes in no known layout")


def _read_named(data: bytes) -> Attachment:
    if len(data) != _NAMED_BYTES:
        return Attachment(unread=f"{len(data)} bytes with field names instead of {_NAMED_BYTES}")
    number = len(_NUMBER)
    time = number + 8 + len(_TIME)
    gid = time + 8 + len(_GID)
    names = (data[number + 8 : time], data[time + 8 : gid])
    if names != (_TIME, _GID) or data[gid] != _GID_BYTES:
        return Attachment(unread="field names that rmw_zenoh does not use")
    return Attachment(
        NAMED,
        _signed(data[number : number + 8]),
        _signed(data[time : time + 8]),
        data[gid + 1 :].hex(),
    )


def _signed(data: bytes) -> int:
    return int.from_bytes(data, "little", signed=True)
