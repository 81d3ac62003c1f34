"""The rows of one message, in each table that it belongs to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from zenlake.trace import message_attributes as attributes
from zenlake.trace.events import MessageSeen
from zenlake.trace.rows._generated.records import (
    DeclareEventsRow,
    ExchangeEventsRow,
    InterestEventsRow,
    MessagesRow,
    SamplesRow,
)
from zenlake.trace.rows.detail import detail_of
from zenlake.trace.rows.rows import Rows
from zenlake.trace.session import Session
from zenlake.trace.timelines.declarations import UNDECLARATIONS
from zenlake.trace.timelines.interests import option_letters
from zenlake.trace.timelines.open_items import asking_side
from zenlake.wire import (
    Declare,
    DeclareFinal,
    DeclareQueryable,
    Del,
    Err,
    Interest,
    Push,
    Put,
    Query,
    Reply,
    Request,
    Response,
    ResponseFinal,
)
from zenlake.wire.values.choices import InterestMode
from zenlake.wire.values.timestamp import Timestamp

_ZID_DIGITS: Final = 32


def add_message(rows: Rows, event: MessageSeen, seq: int) -> None:
    """Adds a row to `messages` and to the table of its kind, if these tables are wanted.

    A message in the state of a recording was sent before it began: it only adds the events from
    which declarations, interests and queries are derived.
    """
    messages = rows.wanted(MessagesRow)
    if messages is not None and event.packet > 0:
        messages.append(
            MessagesRow(
                session=event.session,
                link=event.link.name,
                packet=event.packet,
                time_ns=event.time_ns,
                sender_zid=event.sender_node,
                receiver_zid=event.receiver_node,
                seq=seq,
                kind=event.kind,
                reliability=attributes.reliability(event),
                priority=attributes.priority(event),
                sn=event.sn,
                key=event.key,
                request_id=event.request_id,
                interest_id=event.interest_id,
                entity_id=event.entity_id,
                size=attributes.size(event),
                detail=detail_of(event.kind, event.message, event.fragments),
                error=event.ignored,
            )
        )
    add = _BY_TYPE.get(type(event.message))
    if add is not None:
        add(rows, event, seq)


def _sample(rows: Rows, event: MessageSeen, seq: int) -> None:
    samples = rows.wanted(SamplesRow)
    if samples is None or event.packet <= 0:
        return
    message = event.message
    assert isinstance(message, Push)
    data = message.body
    payload = attributes.payload_of(event)
    stamp = data.timestamp or message.timestamp
    source = data.source_info
    qos = attributes.qos_of(event)
    assert qos is not None
    samples.append(
        SamplesRow(
            session=event.session,
            link=event.link.name,
            packet=event.packet,
            time_ns=event.time_ns,
            sender_zid=event.sender_node,
            receiver_zid=event.receiver_node,
            seq=seq,
            kind="PUT" if isinstance(data, Put) else "DEL",
            key=event.key,
            payload=payload,
            payload_size=None if payload is None else len(payload),
            encoding=attributes.encoding_of(event),
            timestamp=None if stamp is None else str(stamp),
            timestamp_ns=None if stamp is None else stamp.ns,
            priority=int(qos.priority),
            congestion=str(qos.congestion),
            express=qos.express,
            reliability=attributes.reliability(event),
            attachment=data.attachment,
            source_zid=None if source is None else str(source.zid),
            source_eid=None if source is None else source.eid,
            source_sn=None if source is None else source.sn,
            ignored=event.ignored,
            # Set here for samples on one link; a later step sets it for samples on several links.
            trace_id=None if event.ignored is not None or event.key is None else seq,
        )
    )


def _exchange(rows: Rows, event: MessageSeen, seq: int) -> None:
    session, exchanges = event.session, rows.wanted(ExchangeEventsRow)
    if exchanges is None or session is None or event.ignored is not None:
        return
    message = event.message
    request = message if isinstance(message, Request) else None
    response = message if isinstance(message, Response) else None
    query = None if request is None else request.body
    reply = response.body if response is not None else None
    data = reply.body if isinstance(reply, Reply) else None
    replier = None if response is None else response.responder
    stamp = None if data is None else data.timestamp
    requester, responder = event.sender_node, event.receiver_node
    if request is None:
        requester, responder = responder, requester
    qos = attributes.qos_of(event)
    assert qos is not None
    exchanges.append(
        ExchangeEventsRow(
            session=session,
            link=event.link.name,
            packet=event.packet,
            time_ns=event.time_ns,
            seq=seq,
            side=asking_side(event, session, request is not None),
            kind="REQUEST" if request is not None else _reply_kind(response),
            requester_zid=requester,
            responder_zid=responder,
            request_id=event.request_id,
            key=event.key,
            parameters=None if query is None else query.parameters or "",
            target=attributes.target(event),
            consolidation=None if query is None else attributes.consolidation(event),
            timeout_ms=_ms(None if request is None else request.timeout_ms),
            budget=None if request is None else request.budget,
            payload=attributes.payload_of(event),
            encoding=attributes.encoding_of(event),
            attachment=_attachment(query, data),
            source=_source(query),
            replier_zid=None if replier is None else str(replier.zid),
            replier_eid=None if replier is None else replier.eid,
            timestamp=None if stamp is None else str(stamp),
            timestamp_order=None if stamp is None else timestamp_order(stamp),
            priority=int(qos.priority),
            congestion=str(qos.congestion),
            express=qos.express,
        )
    )


def _reply_kind(response: Response | None) -> str:
    """The kind of a RESPONSE; None for RESPONSE_FINAL."""
    if response is None:
        return "FINAL"
    body = response.body
    if isinstance(body, Err):
        return "ERR"
    return "PUT" if isinstance(body.body, Put) else "DEL"


def _attachment(query: Query | None, data: Put | Del | None) -> bytes | None:
    if query is not None:
        return query.attachment
    return None if data is None else data.attachment


def _source(query: Query | None) -> str | None:
    source = None if query is None else query.source_info
    return None if source is None else f"{source.zid}/{source.eid}/{source.sn}"


def _ms(number: int | None) -> float | None:
    return None if number is None else float(number)


def timestamp_order(stamp: Timestamp) -> str:
    """Text that sorts as timestamps do: by time, then by the id as a number."""
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
            _add_interest(rows, event, seq, session, "final", None)
        return
    declarations = rows.wanted(DeclareEventsRow)
    if declarations is None:
        return
    id = event.entity_id or 0
    info = body.info if isinstance(body, DeclareQueryable) else None
    is_queryable = isinstance(body, DeclareQueryable)
    written = str(attributes.wire_key_of(event.message) or "")
    by_key = f"{message.node_id or 0}|{event.key or written}"
    side = str(event.link.sides[event.direction])
    declarations.append(
        DeclareEventsRow(
            session=session,
            link=event.link.name,
            packet=event.packet,
            time_ns=event.time_ns,
            seq=seq,
            sender_zid=event.sender_node,
            receiver_zid=event.receiver_node,
            owner=event.link.name if session.is_multicast else side,
            is_end=isinstance(body, UNDECLARATIONS),
            is_answer=event.is_answer,
            entity=body.NAME[2:].lower(),
            entity_id=id,
            key=event.key or None,
            identity=str(id) if id else by_key,
            key_identity=by_key,
            complete=(info is not None and info.complete) if is_queryable else None,
            distance=(0 if info is None else info.distance) if is_queryable else None,
            interest_id=message.interest_id,
            node_id=message.node_id,
        )
    )


def _interest(rows: Rows, event: MessageSeen, seq: int) -> None:
    session = event.session
    message = event.message
    assert isinstance(message, Interest)
    if session is None or event.ignored is not None:
        return
    if message.mode == InterestMode.FINAL:
        _add_interest(rows, event, seq, session, "close", None)
    else:
        _add_interest(rows, event, seq, session, "open", message)


def _add_interest(
    rows: Rows,
    event: MessageSeen,
    seq: int,
    session: Session,
    what: str,
    opening: Interest | None,
) -> None:
    """`opening` is the INTEREST if `what` is `open`."""
    interests = rows.wanted(InterestEventsRow)
    if interests is None:
        return
    asks = what != "final"
    asker, asked = event.sender_node, event.receiver_node
    if not asks:
        asker, asked = asked, asker
    interests.append(
        InterestEventsRow(
            session=session,
            link=event.link.name,
            packet=event.packet,
            time_ns=event.time_ns,
            seq=seq,
            side=asking_side(event, session, asks),
            event=what,
            sender_zid=asker,
            receiver_zid=asked,
            interest_id=event.interest_id,
            mode=None if opening is None else str(opening.mode),
            options=None if opening is None else option_letters(opening),
            key=None if opening is None else event.key,
        )
    )


_BY_TYPE: Final[dict[type, Callable[[Rows, MessageSeen, int], None]]] = {
    Push: _sample,
    Request: _exchange,
    Response: _exchange,
    ResponseFinal: _exchange,
    Declare: _declare,
    Interest: _interest,
}
