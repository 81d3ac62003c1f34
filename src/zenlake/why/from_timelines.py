"""Records from the timelines of a trace."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import md5

from zenlake.trace import message_attributes as attributes
from zenlake.trace.events import MessageSeen, Missing
from zenlake.trace.rows.message_rows import timestamp_order
from zenlake.trace.session import Session
from zenlake.trace.session_ends import end_of
from zenlake.trace.timelines.declarations import DeclarationLifetime
from zenlake.trace.timelines.exchange import Exchange
from zenlake.trace.timelines.interests import InterestLifetime
from zenlake.why.formatting import error_text
from zenlake.why.records import (
    Declaration,
    InterestRecord,
    Loss,
    Moment,
    QueryHop,
    ReplyRecord,
    SessionRecord,
)
from zenlake.wire import Put, Reply, Request, Response


def moment(event: MessageSeen) -> Moment:
    return Moment(event.time_ns, event.packet)


def session_of(session: Session, close: MessageSeen | None) -> SessionRecord:
    opener, acceptor = session.nodes
    return SessionRecord(
        session.id,
        None if session.is_multicast else opener.zid,
        None if session.is_multicast else acceptor.zid,
        session.started_ns,
        session.closed_ns,
        session.outcome,
        session.close_reason,
        session.links[0].protocol,
        None if close is None else close.sender_zid,
        None if close is None else close.packet,
        session.opened_ns is not None or session.outcome != "refused",
        None if session.is_multicast else end_of(session),
    )


def query_of(exchange: Exchange) -> QueryHop | None:
    """None where the REQUEST is not in the capture."""
    request = exchange.request
    if request is None:
        return None
    message = request.message
    assert isinstance(message, Request)
    body = message.body
    source = body.source_info
    final = exchange.final
    target, consolidation = attributes.target(request), attributes.consolidation(request)
    timeout_ms = None if message.timeout_ms is None else float(message.timeout_ms)
    parameters = body.parameters or ""
    asked = (
        request.key,
        parameters,
        target,
        consolidation,
        timeout_ms,
        message.budget,
        attributes.payload_of(request),
        attributes.encoding_of(request),
        body.attachment,
        None if source is None else f"{source.zid}/{source.eid}/{source.sn}",
    )
    return QueryHop(
        exchange.session.id,
        request.seq,
        moment(request),
        exchange.requester_zid,
        exchange.responder_zid,
        exchange.request_id,
        request.key,
        parameters,
        target or "",
        consolidation or "",
        timeout_ms,
        md5(repr(asked).encode(), usedforsecurity=False).hexdigest(),
        final=None if final is None else moment(final),
        final_seq=None if final is None else final.seq,
        reused=exchange.ended_by is None,
    )


def replies_of(exchange: Exchange) -> Iterator[ReplyRecord]:
    for event in exchange.responses:
        yield _reply(event, False)
    for event in exchange.after_final:
        yield _reply(event, True)


def _reply(event: MessageSeen, after_final: bool) -> ReplyRecord:
    message = event.message
    assert isinstance(message, Response)
    body = message.body
    replier = None if message.responder is None else str(message.responder.zid)
    if not isinstance(body, Reply):
        error = error_text(attributes.payload_of(event))
        return ReplyRecord(moment(event), "ERR", event.key, replier, "", after_final, error)
    stamp = body.body.timestamp
    return ReplyRecord(
        moment(event),
        "PUT" if isinstance(body.body, Put) else "DEL",
        event.key,
        replier,
        "" if stamp is None else timestamp_order(stamp),
        after_final,
    )


def declaration_of(lifetime: DeclarationLifetime) -> Declaration:
    first = lifetime.declared or lifetime.undeclared
    assert first is not None
    ended = None
    if lifetime.ended_ns is not None:
        packet = None if lifetime.undeclared is None else lifetime.undeclared.packet
        ended = Moment(lifetime.ended_ns, packet)
    return Declaration(
        lifetime.session.id,
        first.seq,
        lifetime.entity,
        lifetime.key,
        lifetime.sender_zid,
        lifetime.receiver_zid,
        lifetime.id,
        None if lifetime.declared is None else moment(lifetime.declared),
        ended,
        lifetime.ended_by,
        lifetime.complete,
        lifetime.interest_id,
        lifetime.node_id,
        lifetime.is_answer,
    )


def interest_of(lifetime: InterestLifetime) -> InterestRecord:
    opened = lifetime.opened
    assert opened is not None
    closed_ns = None
    if lifetime.ended_by == "closed" and lifetime.closed is not None:
        closed_ns = lifetime.closed.time_ns
    elif lifetime.ended_by == "session":
        closed_ns = lifetime.session.closed_ns
    return InterestRecord(
        lifetime.session.id,
        opened.seq,
        moment(opened),
        lifetime.sender_zid,
        lifetime.receiver_zid,
        lifetime.id,
        str(lifetime.mode),
        lifetime.options or "",
        opened.key,
        None if lifetime.final is None else lifetime.final.time_ns,
        closed_ns,
    )


def loss_of(missing: Missing) -> Loss:
    session = missing.link.session
    sender, receiver = missing.nodes
    return Loss(
        None if session is None else session.id,
        Moment(missing.time_ns, missing.packet),
        missing.kind,
        None if sender is None else sender.zid,
        None if receiver is None else receiver.zid,
        missing.priority,
        missing.reliability,
        missing.count or None,
        missing.bytes or None,
    )
