"""Attributes of a message, read from the place where its kind has them.

None means absent or unknown. QoS, target, consolidation and encoding are the effective values:
the default of the protocol if none was sent.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from zenlake.errors import LocalError
from zenlake.trace.events import MessageSeen, reliability_text
from zenlake.trace.session import Node, close_reason
from zenlake.trace.session import lease_ms as lease_ms_of
from zenlake.trace.timelines.interests import option_letters
from zenlake.wire import (
    Close,
    Declare,
    DeclareQueryable,
    Del,
    Err,
    Frame,
    Interest,
    Join,
    Open,
    Push,
    Put,
    Query,
    Reply,
    Request,
    Response,
)
from zenlake.wire.message import NetworkMessage
from zenlake.wire.values.choices import ConsolidationMode, InterestMode, QueryTarget
from zenlake.wire.values.encoding import Encoding
from zenlake.wire.values.qos import DEFAULT_QOS, QoS
from zenlake.wire.values.wire_expr import WireExpr

_DEFAULT_ENCODING: Final = "zenoh/bytes"
_NS_PER_S: Final = 1_000_000_000


def data_of(message: Push | Request | Response) -> Put | Del | Query | Err:
    """The body of a publication, query or response; of a reply, the value in it."""
    body = message.body
    return body.body if isinstance(body, Reply) else body


def _data_of(event: MessageSeen) -> Put | Del | Query | Err | None:
    message = event.message
    return data_of(message) if isinstance(message, (Push, Request, Response)) else None


def qos_of(event: MessageSeen) -> QoS | None:
    """The QoS of a network message."""
    message: Any = event.message
    if not isinstance(message, NetworkMessage):
        return None
    qos: QoS | None = message.qos  # type: ignore[attr-defined]  # every network message has it
    return DEFAULT_QOS if qos is None else qos


def payload_of(event: MessageSeen) -> bytes | None:
    """The payload; None if it is in shared memory, because its bytes are not on the wire."""
    data = _data_of(event)
    if isinstance(data, Query):
        inside = data.body_shm is None and data.body is not None
        return data.body.payload if inside and data.body is not None else None
    if isinstance(data, (Put, Err)):
        return None if data.shm else data.payload
    return None


def sent_encoding(data: Put | Del | Query | Err | None) -> Encoding | None:
    """The encoding as sent; None if none was sent."""
    if isinstance(data, Query):
        return None if data.body is None else data.body.encoding
    return data.encoding if isinstance(data, (Put, Err)) else None


def encoding_of(event: MessageSeen) -> str | None:
    data = _data_of(event)
    encoding = sent_encoding(data)
    if encoding is None:
        return _DEFAULT_ENCODING if isinstance(data, (Put, Err)) else None
    return str(encoding)


def wire_key_of(message: Any) -> WireExpr | None:
    """The key expression as sent: alias and suffix."""
    holder = message.body if isinstance(message, Declare) else message
    key = getattr(holder, "key", None)
    if key is not None and not isinstance(key, WireExpr):
        key = key.key  # the key of an undeclaration is in an extension
    return key if isinstance(key, WireExpr) else None


def time_text(time_ns: int) -> str:
    """UTC with nine digits of fraction, so that texts sort by time."""
    seconds, fraction = divmod(time_ns, _NS_PER_S)
    try:
        instant = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return f"{time_ns} ns"  # after the year 9999, from a damaged capture
    return f"{instant:%Y-%m-%dT%H:%M:%S}.{fraction:09}Z"


def both(one: Any, other: Any) -> tuple[Any, ...] | None:
    return tuple(value for value in (one, other) if value is not None) or None


def role(node: Node | None) -> str | None:
    return None if node is None else node.role


def port(address: str) -> int | None:
    digits = address.rpartition(":")[2]
    return int(digits) if digits.isdecimal() else None


def reliability(event: MessageSeen) -> str | None:
    reliable = event.reliable
    if reliable is None:
        # Low latency has no channels and is reliable (wire reference §9).
        return "reliable" if isinstance(event.message, NetworkMessage) else None
    return reliability_text(reliable)


def priority(event: MessageSeen) -> int | None:
    qos = qos_of(event)
    return event.priority if qos is None else int(qos.priority)


def congestion(event: MessageSeen) -> str | None:
    qos = qos_of(event)
    return None if qos is None else str(qos.congestion)


def express(event: MessageSeen) -> bool | None:
    qos = qos_of(event)
    return None if qos is None else qos.express


def payload_size(event: MessageSeen) -> int | None:
    payload = payload_of(event)
    return None if payload is None else len(payload)


def size(event: MessageSeen) -> int | None:
    try:
        return event.size
    except LocalError:
        return None  # a value that is decoded, but cannot be encoded


def data(name: str) -> Callable[[MessageSeen], Any]:
    """An attribute of the data in a message."""
    return lambda event: getattr(_data_of(event), name, None)


def source(name: str) -> Callable[[MessageSeen], Any]:
    def read(event: MessageSeen) -> Any:
        source = getattr(_data_of(event), "source_info", None)
        return None if source is None else plain_number_or_text(getattr(source, name))

    return read


def plain_number_or_text(value: Any) -> Any:
    return value if isinstance(value, int) else str(value)


def timestamp(event: MessageSeen) -> str | None:
    stamp = getattr(_data_of(event), "timestamp", None)
    if stamp is None and isinstance(event.message, NetworkMessage):
        stamp = getattr(event.message, "timestamp", None)
    return None if stamp is None else str(stamp)


def replier(name: str) -> Callable[[MessageSeen], Any]:
    def read(event: MessageSeen) -> Any:
        message = event.message
        if not isinstance(message, Response) or message.responder is None:
            return None
        return plain_number_or_text(getattr(message.responder, name))

    return read


def target(event: MessageSeen) -> str | None:
    message = event.message
    if not isinstance(message, Request):
        return None
    return str(QueryTarget.BEST_MATCHING if message.target is None else message.target)


def consolidation(event: MessageSeen) -> str | None:
    message = event.message
    body = message.body if isinstance(message, (Request, Response)) else None
    if not isinstance(body, (Query, Reply)):
        return None
    return str(ConsolidationMode.AUTO if body.consolidation is None else body.consolidation)


def message(name: str, *types: type) -> Callable[[MessageSeen], Any]:
    """An attribute of the message itself, if it is of one of these types."""
    return lambda event: (
        getattr(event.message, name, None) if isinstance(event.message, types) else None
    )


def reason(event: MessageSeen) -> str | None:
    message = event.message
    return close_reason(message.reason) if isinstance(message, Close) else None


def lease_ms(event: MessageSeen) -> int | None:
    message = event.message
    return lease_ms_of(message) if isinstance(message, (Open, Join)) else None


def mode(event: MessageSeen) -> str | None:
    message = event.message
    return str(message.mode) if isinstance(message, Interest) else None


def options(event: MessageSeen) -> str | None:
    message = event.message
    if not isinstance(message, Interest) or message.mode == InterestMode.FINAL:
        return None
    return option_letters(message)


def queryable(name: str, default: bool | int) -> Callable[[MessageSeen], Any]:
    def read(event: MessageSeen) -> Any:
        message = event.message
        if not isinstance(message, Declare) or not isinstance(message.body, DeclareQueryable):
            return None
        info = message.body.info
        return default if info is None else getattr(info, name)

    return read


def wire_key(event: MessageSeen) -> str | None:
    key = wire_key_of(event.message)
    return None if key is None else str(key)


def unknown_alias(event: MessageSeen) -> bool | None:
    wire_key = wire_key_of(event.message)
    return None if wire_key is None else event.key is None and wire_key.scope != 0


def messages(event: MessageSeen) -> int | None:
    message = event.message
    return len(message.messages) if isinstance(message, Frame) else None


def node_id(event: MessageSeen) -> Any:
    return getattr(event.message, "node_id", None)


def version(message: Any) -> Any:
    return getattr(message, "version", None)
