"""The keys of messages, decoded and encoded."""

from __future__ import annotations

from typing import Final

from zenlake.trace.keys import ENTITIES, UNDECLARED
from zenlake.wire import (
    Declare,
    DeclareKeyExpr,
    Interest,
    NetworkMessage,
    Push,
    Request,
    Response,
    UndeclaredKey,
    WireExpr,
)
from zenlake.wire.headers import HAS_SUFFIX, IS_SENDERS_KEY
from zenlake.wire.kinds import LINK_STATE_OAM_ID
from zenlake.wire.primitives import (
    FIELD_ERRORS,
    read_text_z16,
    read_z16,
    read_z32,
    write_text_z16,
)
from zenlake.wire.push_run import PushRun
from zenlake.wire.writer import BytesWriter

RESPONSE: Final = 0x1B
REQUEST: Final = 0x1C
PUSH: Final = 0x1D
_OAM: Final = 0x1F


def key_of(message: NetworkMessage) -> WireExpr | None:
    """The key of a message; None for a declaration whose key uses no declared prefix."""
    if isinstance(message, PushRun):
        return message.first.key
    if isinstance(message, (Push, Request, Response, Interest)):
        return message.key
    if isinstance(message, Declare):
        body = message.body
        if isinstance(body, ENTITIES):
            return body.key
        if isinstance(body, UNDECLARED):
            # Deployed nodes send an empty key.
            given = None if body.key is None else body.key.key
            return given if given is not None and (given.scope or given.suffix) else None
    return None


def with_key(message: NetworkMessage, key: WireExpr) -> NetworkMessage:
    if isinstance(message, (Push, Request, Response, Interest)):
        changed = message.copy()
        changed.key = key
        return changed
    assert isinstance(message, Declare)
    declare = message.copy()
    body = message.body
    if isinstance(body, (DeclareKeyExpr, *ENTITIES)):
        announced = body.copy()
        announced.key = key
        declare.body = announced
    elif isinstance(body, UNDECLARED):
        withdrawn = body.copy()
        withdrawn.key = UndeclaredKey(key)
        declare.body = withdrawn
    return declare


def _key_range(data: bytes) -> tuple[int, int]:
    """Where the key of an encoded PUSH, REQUEST or RESPONSE begins and ends."""
    start = 1
    end = len(data)
    if data[0] & 0x1F != PUSH:
        _, start = read_z32(data, start, end)
    _, stop = read_z16(data, start, end)
    if data[0] & HAS_SUFFIX:
        _, stop = read_text_z16(data, stop, end)
    return start, stop


def key_at_start(data: bytes) -> WireExpr | None:
    """The key of an encoded message, if all of it is here; None for other messages."""
    if not data or data[0] & 0x1F not in (PUSH, REQUEST, RESPONSE):
        return None
    try:
        start, stop = _key_range(data)
        scope, suffix_at = read_z16(data, start, stop)
        suffix = ""
        if data[0] & HAS_SUFFIX:
            suffix, _ = read_text_z16(data, suffix_at, stop)
    except FIELD_ERRORS:
        return None
    return WireExpr(scope, suffix, data[0] & IS_SENDERS_KEY != 0)


def with_key_at_start(data: bytes, text: str) -> bytes:
    """The beginning of a message with its whole key instead of the present one."""
    start, stop = _key_range(data)
    out = BytesWriter()
    out.append(data[0] | HAS_SUFFIX | IS_SENDERS_KEY)
    out.write(data[1:start])
    out.append(0)
    write_text_z16(out, text)
    out.write(data[stop:])
    return out.getvalue()


def is_link_state(data: bytes) -> bool:
    return len(data) > 1 and data[0] & 0x1F == _OAM and data[1] == LINK_STATE_OAM_ID
