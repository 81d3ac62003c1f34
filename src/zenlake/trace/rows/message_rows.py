"""What one message says, as a row of each table it belongs to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from zenlake.trace import facts
from zenlake.trace.events import MessageSeen
from zenlake.trace.rows.detail import detail_of
from zenlake.trace.rows.rows import Row, Rows
from zenlake.trace.session import Session
from zenlake.trace.timelines.interests import option_letters
from zenlake.trace.timelines.lives import asking_side
from zenlake.wire._generated.data import Err, Put, Query, Reply
from zenlake.wire._generated.declare import (
    DeclareFinal,
    DeclareQueryable,
    UndeclareKeyExpr,
    UndeclareQueryable,
    UndeclareSubscriber,
    UndeclareToken,
)
from zenlake.wire._generated.network import (
    Declare,
    Interest,
    Push,
    Request,
    Response,
    ResponseFinal,
)
from zenlake.wire.values.choices import ConsolidationMode, InterestMode, QueryTarget
from zenlake.wire.values.timestamp import Timestamp

_ENDS: Final = (UndeclareKeyExpr, UndeclareSubscriber, UndeclareQueryable, UndeclareToken)
_ZID_DIGITS: Final = 32


def add_message(rows: Rows, event: MessageSeen, seq: int) -> None:
    """One row in `messages`, and one in the table of its kind, of those that are wanted."""
    messages = rows.tables.get("messages")
    if messages is not None:
        messages.append(
            (
                event.session,
                event.link.name,
                event.packet,
                event.time_ns,
                event.sender_node,
                event.receiver_node,
                seq,
                event.kind,
                facts.reliability(event),
                facts.priority(event),
                event.sn,
                event.key,
                event.request_id,
                event.interest_id,
                event.entity_id,
                facts.size(event),
                detail_of(event.kind, event.message, event.fragments),
                event.ignored,
            )
        )
    add = _BY_TYPE.get(type(event.message))
    if add is not None:
        add(rows, event, seq)


def _place(event: MessageSeen) -> Row:
    return event.session, event.link.name, event.packet, event.time_ns


def _sample(rows: Rows, event: MessageSeen, seq: int) -> None:
    samples = rows.tables.get("samples")
    if samples is None:
        return
    message = event.message
    assert isinstance(message, Push)
    data = message.body
    payload = facts.payload_of(event)
    stamp = data.timestamp or message.timestamp
    source = data.source_info
    qos = facts.qos_of(event)
    assert qos is not None
    samples.append(
        (
            *_place(event),
            event.sender_node,
            event.receiver_node,
            seq,
            "PUT" if isinstance(data, Put) else "DEL",
            event.key,
            payload,
            None if payload is None else len(payload),
            facts.encoding_of(event),
            None if stamp is None else str(stamp),
            None if stamp is None else stamp.ns,
            int(qos.priority),
            str(qos.congestion),
            qos.express,
            facts.reliability(event),
            data.attachment,
            None if source is None else str(source.zid),
            None if source is None else source.eid,
            None if source is None else source.sn,
            event.ignored,
            # Of what crosses one link only; a later step knows what crosses several.
            None if event.ignored is not None or event.key is None else seq,
        )
    )


def _exchange(rows: Rows, event: MessageSeen, seq: int) -> None:
    session, exchanges = event.session, rows.tables.get("exchange_events")
    if exchanges is None or session is None or event.ignored is not None:
        return
    message = event.message
    asks = isinstance(message, Request)
    nodes = (event.sender_node, event.receiver_node)
    requester, responder = nodes if asks else nodes[::-1]
    place = (*_place(event), seq, asking_side(event, session, asks))
    people = (requester, responder, event.request_id, event.key)
    if isinstance(message, Request):
        cells = ("REQUEST", *people, *_query_cells(event, message))
    elif isinstance(message, Response):
        cells = (_reply_kind(message), *people, *_reply_cells(event, message))
    else:
        cells = ("FINAL", *people, *(None,) * 13)
    qos = facts.qos_of(event)
    assert qos is not None
    how = (int(qos.priority), str(qos.congestion), qos.express)
    exchanges.append(place + cells + how)


def _query_cells(event: MessageSeen, message: Request) -> Row:
    query: Query = message.body
    source = query.source_info
    return (
        query.parameters or "",
        str(QueryTarget.BEST_MATCHING if message.target is None else message.target),
        str(ConsolidationMode.AUTO if query.consolidation is None else query.consolidation),
        None if message.timeout_ms is None else float(message.timeout_ms),
        message.budget,
        facts.payload_of(event),
        facts.encoding_of(event),
        query.attachment,
        None if source is None else f"{source.zid}/{source.eid}/{source.sn}",
        *(None,) * 4,
    )


def _reply_kind(message: Response) -> str:
    body = message.body
    if isinstance(body, Err):
        return "ERR"
    return "PUT" if isinstance(body.body, Put) else "DEL"


def _reply_cells(event: MessageSeen, message: Response) -> Row:
    body = message.body
    stamp = body.body.timestamp if isinstance(body, Reply) else None
    responder = message.responder
    return (
        *(None,) * 5,
        facts.payload_of(event),
        facts.encoding_of(event),
        body.body.attachment if isinstance(body, Reply) else None,
        None,
        None if responder is None else str(responder.zid),
        None if responder is None else responder.eid,
        None if stamp is None else str(stamp),
        None if stamp is None else timestamp_order(stamp),
    )


def timestamp_order(stamp: Timestamp) -> str:
    """Text that sorts as timestamps do: by time, then by the number that the id is."""
    return f"{stamp.time:016x}{stamp.id!s:0>{_ZID_DIGITS}}"


def _declare(rows: Rows, event: MessageSeen, seq: int) -> None:
    session = event.session
    message = event.message
    assert isinstance(message, Declare)
    if session is None or event.ignored is not None:
        return
    body = message.body
    if isinstance(body, DeclareFinal):
        if message.interest_id is not None:
            _add_interest(rows, event, seq, session, "final", (None, None, None))
        return
    declarations = rows.tables.get("declare_events")
    if declarations is None:
        return
    entity = body.NAME[2:].lower()
    id = event.entity_id or 0
    info = body.info if isinstance(body, DeclareQueryable) else None
    is_queryable = isinstance(body, DeclareQueryable)
    written = str(facts.wire_key_of(event) or "")
    by_key = f"{message.node_id or 0}|{event.key or written}"
    declarations.append(
        (
            *_place(event),
            seq,
            event.sender_node,
            event.receiver_node,
            event.link.name if session.is_multicast else str(event.link.sides[event.direction]),
            isinstance(body, _ENDS),
            event.is_answer,
            entity,
            id,
            event.key or None,
            str(id) if id else by_key,
            by_key,
            (info is not None and info.complete) if is_queryable else None,
            (0 if info is None else info.distance) if is_queryable else None,
            message.interest_id,
            message.node_id,
        )
    )


def _interest(rows: Rows, event: MessageSeen, seq: int) -> None:
    session = event.session
    message = event.message
    assert isinstance(message, Interest)
    if session is None or event.ignored is not None:
        return
    if message.mode == InterestMode.FINAL:
        _add_interest(rows, event, seq, session, "close", (None, None, None))
    else:
        asked = (str(message.mode), option_letters(message), event.key)
        _add_interest(rows, event, seq, session, "open", asked)


def _add_interest(
    rows: Rows, event: MessageSeen, seq: int, session: Session, what: str, asked: Row
) -> None:
    interests = rows.tables.get("interest_events")
    if interests is None:
        return
    asks = what != "final"
    nodes: tuple[Any, Any] = (event.sender_node, event.receiver_node)
    side = asking_side(event, session, asks)
    people = nodes if asks else nodes[::-1]
    place = (*_place(event), seq, side, what, *people, event.interest_id)
    interests.append(place + asked)


_BY_TYPE: Final[dict[type, Callable[[Rows, MessageSeen, int], None]]] = {
    Push: _sample,
    Request: _exchange,
    Response: _exchange,
    ResponseFinal: _exchange,
    Declare: _declare,
    Interest: _interest,
}
