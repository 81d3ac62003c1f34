"""The last part of a line: the important fields of each kind of message, in a fixed order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from zenlake.cli.decode.text import (
    ZID_DIGITS,
    key_text,
    lease_text,
    preview,
    qos_text,
    stamp_text,
)
from zenlake.cli.output import count_text, safe
from zenlake.errors import WireError
from zenlake.trace.events import MessageSeen
from zenlake.trace.session import close_reason, lease_ms
from zenlake.trace.timelines.interests import option_letters
from zenlake.wire import (
    Close,
    Declare,
    DeclareQueryable,
    Del,
    Err,
    Fragment,
    Frame,
    Hello,
    Init,
    Interest,
    Join,
    Oam,
    Open,
    Push,
    Put,
    Reply,
    Request,
    Response,
    ResponseFinal,
    Scout,
    SourceInfo,
    TransportOam,
)
from zenlake.wire.codec import decode_link_states
from zenlake.wire.values.resolution import Resolution

_NODES_SHOWN_MAX: Final = 4


def detail_of(event: MessageSeen) -> str:
    """The detail of a message; empty for kinds without fields."""
    describe = _DETAILS.get(event.kind)
    return "" if describe is None else describe(event)


def _push(event: MessageSeen) -> str:
    message = event.message
    assert isinstance(message, Push)
    data = message.body
    text = key_text(event)
    if isinstance(data, Put):
        text = f"{text}  {_put_text(data)}"
    if message.qos is not None:
        text += qos_text(message.qos)
    return text + _data_text(data) + _node_text(message.node_id)


def _put_text(data: Put | Err) -> str:
    value = "in shared memory" if data.shm else preview(data.payload)
    return value if data.encoding is None else f"{value} {safe(str(data.encoding))}"


def _data_text(data: Put | Del) -> str:
    """Attachment, timestamp and source, which most messages lack."""
    text = ""
    if data.attachment is not None:
        text += f"  attachment {preview(data.attachment)}"
    if data.timestamp is not None:
        text += f"  at {stamp_text(data.timestamp)}"
    return text if data.source_info is None else text + _source_text(data.source_info)


def _source_text(source: SourceInfo) -> str:
    return f"  from {str(source.zid)[:ZID_DIGITS]}/{source.eid} no. {source.sn}"


def _node_text(node_id: int | None) -> str:
    return f"  node {node_id}" if node_id else ""


def _request(event: MessageSeen) -> str:
    message = event.message
    assert isinstance(message, Request)
    query = message.body
    text = f"#{message.request_id} {key_text(event)}"
    if query.parameters:
        text += f"?{safe(query.parameters)}"
    if message.target is not None:
        text += f"  target {message.target}"
    if query.consolidation is not None:
        text += f"  consolidation {query.consolidation}"
    if message.timeout_ms is not None:
        text += f"  timeout {lease_text(message.timeout_ms)}"
    if message.budget is not None:
        text += f"  budget {message.budget}"
    if query.body is not None:
        value = preview(query.body.payload) if query.body_shm is None else "in shared memory"
        text += f"  body {value} {safe(str(query.body.encoding))}"
    if query.attachment is not None:
        text += f"  attachment {preview(query.attachment)}"
    if query.source_info is not None:
        text += _source_text(query.source_info)
    return text + qos_text(message.qos) + _node_text(message.node_id)


def _response(event: MessageSeen) -> str:
    message = event.message
    assert isinstance(message, Response)
    body = message.body
    text = f"#{message.request_id} {key_text(event)}"
    if isinstance(body, Reply):
        data = body.body
        if isinstance(data, Put):
            text = f"{text}  {_put_text(data)}"
        if body.consolidation is not None:
            text += f"  consolidation {body.consolidation}"
        text += _data_text(data)
    else:
        text += f"  error {_put_text(body)}"
    if message.responder is not None:
        text += f"  by {str(message.responder.zid)[:ZID_DIGITS]}/{message.responder.eid}"
    return text + qos_text(message.qos)


def _response_final(event: MessageSeen) -> str:
    message = event.message
    assert isinstance(message, ResponseFinal)
    return f"#{message.request_id}{qos_text(message.qos)}"


def _interest(event: MessageSeen) -> str:
    message = event.message
    assert isinstance(message, Interest)
    words = [f"#{message.id}", str(message.mode), option_letters(message), key_text(event)]
    return " ".join(word for word in words if word) + _node_text(message.node_id)


def _declare(event: MessageSeen) -> str:
    message = event.message
    assert isinstance(message, Declare)
    text = "" if event.entity_id is None else f"{event.entity_id} "
    text += ("= " if event.kind == "DECLARE/D_KEYEXPR" else "") + key_text(event)
    body = message.body
    if isinstance(body, DeclareQueryable) and body.info is not None:
        text += f"  {body.info}"
    if message.interest_id is not None:
        text += f"  for interest #{message.interest_id}"
    return text.strip() + _node_text(message.node_id)


def _frame(event: MessageSeen) -> str:
    message = event.message
    assert isinstance(message, Frame)
    count = len(message.messages)
    messages = "" if count == 1 else f"  {count_text(count, 'message')}"
    return _channel_text(message) + messages


def _fragment(event: MessageSeen) -> str:
    message = event.message
    assert isinstance(message, Fragment)
    place = "more follow" if message.more else "last"
    first = "first, " if message.first else ""
    drop = ", dropped" if message.drop else ""
    return f"{_channel_text(message)}  {len(message.payload)} B  {first}{place}{drop}"


def _channel_text(message: Frame | Fragment) -> str:
    reliable = "reliable" if message.reliable else "best effort"
    priority = "" if message.qos is None else f" priority {int(message.qos)}"
    return f"sn {message.sn} {reliable}{priority}"


def _init(event: MessageSeen) -> str:
    message = event.message
    assert isinstance(message, Init)
    text = f"{message.whatami} {message.zid}  version {message.version}"
    text += _sizes_text(message.resolution, message.batch_size) + _features(message)
    return text if message.region is None else f"{text}  region {safe(message.region)}"


def _sizes_text(resolution: Resolution | None, batch_size: int | None) -> str:
    bits = "" if resolution is None else f"  sn {resolution.sn_bits} bits"
    return bits if batch_size is None else f"{bits}  batch {batch_size}"


_FEATURES: Final = ("qos", "compression", "lowlatency")
_CONTENTS: Final = ("shm", "auth", "multilink")


def _features(message: Any) -> str:
    """The extensions of INIT or OPEN."""
    names = [name for name in _FEATURES if getattr(message, name)]
    names += [name for name in _CONTENTS if getattr(message, name) is not None]
    if getattr(message, "qos_link", None) is not None:
        names.append(f"qos ({message.qos_link})")
    if getattr(message, "patch", None):
        names.append(f"patch {message.patch}")
    return f"  {', '.join(names)}" if names else ""


def _open(event: MessageSeen) -> str:
    message = event.message
    assert isinstance(message, Open)
    text = f"lease {lease_text(lease_ms(message))}  initial sn {message.initial_sn}"
    bound = "" if message.remote_bound is None else f"  remote bound {message.remote_bound}"
    return text + _features(message) + bound


def _close(event: MessageSeen) -> str:
    message = event.message
    assert isinstance(message, Close)
    return f"{close_reason(message.reason)}, {'the session' if message.session else 'this link'}"


def _join(event: MessageSeen) -> str:
    message = event.message
    assert isinstance(message, Join)
    text = f"{message.whatami} {message.zid}  lease {lease_text(lease_ms(message))}"
    if message.qos is None:
        text += f"  next sn {message.next_sn_re} reliable, {message.next_sn_be} best effort"
    qos = "" if message.qos is None else "  qos, next sn by priority"
    patch = f"  patch {message.patch}" if message.patch else ""
    return text + _sizes_text(message.resolution, message.batch_size) + qos + patch


def _scout(event: MessageSeen) -> str:
    message = event.message
    assert isinstance(message, Scout)
    zid = "" if message.zid is None else f"  from {message.zid}"
    return f"looks for {str(message.what) or 'nobody'}{zid}"


def _hello(event: MessageSeen) -> str:
    message = event.message
    assert isinstance(message, Hello)
    return f"{message.whatami} {message.zid}  {safe(' '.join(message.locators or ()))}".rstrip()


def _oam(event: MessageSeen) -> str:
    message = event.message
    assert isinstance(message, (Oam, TransportOam))
    body = message.body
    shown = preview(body) if isinstance(body, bytes) else str(body or "")
    return f"id {message.id} {shown}".rstrip()


def _link_state(event: MessageSeen) -> str:
    message = event.message
    assert isinstance(message, Oam)
    if not isinstance(message.body, bytes):
        return "no link states"
    try:
        states = decode_link_states(message.body).link_states
    except WireError as error:
        return f"unreadable: {error.cause}"
    shown = []
    for state in states[:_NODES_SHOWN_MAX]:
        name = f"[{state.psid}]" if state.zid is None else str(state.zid)[:ZID_DIGITS]
        role = "" if state.whatami is None else f" {state.whatami}"
        shown.append(f"{name}{role} {count_text(len(state.links), 'link')}")
    more = ", ..." if len(states) > _NODES_SHOWN_MAX else ""
    return f"{count_text(len(states), 'node')}: {', '.join(shown)}{more}"


_DETAILS: Final[dict[str, Callable[[MessageSeen], str]]] = {
    "PUSH/PUT": _push,
    "PUSH/DEL": _push,
    "FRAME": _frame,
    "FRAGMENT": _fragment,
    "REQUEST": _request,
    "RESPONSE/REPLY/PUT": _response,
    "RESPONSE/REPLY/DEL": _response,
    "RESPONSE/ERR": _response,
    "RESPONSE_FINAL": _response_final,
    "INTEREST": _interest,
    "OAM": _oam,
    "OAM/LINKSTATE": _link_state,
    "TRANSPORT_OAM": _oam,
    "SCOUT": _scout,
    "HELLO": _hello,
    "INIT_SYN": _init,
    "INIT_ACK": _init,
    "OPEN_SYN": _open,
    "OPEN_ACK": _open,
    "CLOSE": _close,
    "JOIN": _join,
    **{
        f"DECLARE/{letter}_{entity}": _declare
        for letter in "DU"
        for entity in ("KEYEXPR", "SUBSCRIBER", "QUERYABLE", "TOKEN")
    },
    "DECLARE/D_FINAL": _declare,
}
