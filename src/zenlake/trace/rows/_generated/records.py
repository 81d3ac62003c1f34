"""Records of the exact reader: a row of each table that reading a capture gives.

GENERATED from zenlake/lake/schema by `make generate`. Do not edit.
"""

from __future__ import annotations

from typing import ClassVar, Final

from zenlake._mypyc import mypyc_attr
from zenlake.trace.rows.record import Record, SessionRecord
from zenlake.trace.session import Node, Session


@mypyc_attr(acyclic=True)
class BatchesRow(SessionRecord):
    """A row of `batches`."""

    __slots__ = (
        "bytes",
        "cause",
        "link",
        "packet",
        "protocol",
        "receiver",
        "sender",
        "seq",
        "state",
        "time_ns",
    )
    TABLE: ClassVar[str] = "batches"
    COLUMNS: ClassVar[tuple[str, ...]] = (
        "session",
        "link",
        "packet",
        "time_ns",
        "sender",
        "receiver",
        "protocol",
        "seq",
        "state",
        "bytes",
        "cause",
    )

    def __init__(
        self,
        *,
        session: Session | None,
        link: str | None,
        packet: int | None,
        time_ns: int | None,
        sender: str | None,
        receiver: str | None,
        protocol: str | None,
        seq: int | None,
        state: str | None,
        bytes: int | None,
        cause: str | None,
    ) -> None:
        self.session = session
        self.link = link
        self.packet = packet
        self.time_ns = time_ns
        self.sender = sender
        self.receiver = receiver
        self.protocol = protocol
        self.seq = seq
        self.state = state
        self.bytes = bytes
        self.cause = cause


@mypyc_attr(acyclic=True)
class MessagesRow(SessionRecord):
    """A row of `messages`."""

    __slots__ = (
        "detail",
        "entity_id",
        "error",
        "interest_id",
        "key",
        "kind",
        "link",
        "packet",
        "priority",
        "receiver_zid",
        "reliability",
        "request_id",
        "sender_zid",
        "seq",
        "size",
        "sn",
        "time_ns",
    )
    TABLE: ClassVar[str] = "messages"
    COLUMNS: ClassVar[tuple[str, ...]] = (
        "session",
        "link",
        "packet",
        "time_ns",
        "sender_zid",
        "receiver_zid",
        "seq",
        "kind",
        "reliability",
        "priority",
        "sn",
        "key",
        "request_id",
        "interest_id",
        "entity_id",
        "size",
        "detail",
        "error",
    )

    def __init__(
        self,
        *,
        session: Session | None,
        link: str | None,
        packet: int | None,
        time_ns: int | None,
        sender_zid: Node | None,
        receiver_zid: Node | None,
        seq: int | None,
        kind: str | None,
        reliability: str | None,
        priority: int | None,
        sn: int | None,
        key: str | None,
        request_id: int | None,
        interest_id: int | None,
        entity_id: int | None,
        size: int | None,
        detail: str | None,
        error: str | None,
    ) -> None:
        self.session = session
        self.link = link
        self.packet = packet
        self.time_ns = time_ns
        self.sender_zid = sender_zid
        self.receiver_zid = receiver_zid
        self.seq = seq
        self.kind = kind
        self.reliability = reliability
        self.priority = priority
        self.sn = sn
        self.key = key
        self.request_id = request_id
        self.interest_id = interest_id
        self.entity_id = entity_id
        self.size = size
        self.detail = detail
        self.error = error


@mypyc_attr(acyclic=True)
class SamplesRow(SessionRecord):
    """A row of `samples`."""

    __slots__ = (
        "attachment",
        "congestion",
        "encoding",
        "express",
        "ignored",
        "key",
        "kind",
        "link",
        "packet",
        "payload",
        "payload_size",
        "priority",
        "receiver_zid",
        "reliability",
        "sender_zid",
        "seq",
        "source_eid",
        "source_sn",
        "source_zid",
        "time_ns",
        "timestamp",
        "timestamp_ns",
        "trace_id",
    )
    TABLE: ClassVar[str] = "samples"
    COLUMNS: ClassVar[tuple[str, ...]] = (
        "session",
        "link",
        "packet",
        "time_ns",
        "sender_zid",
        "receiver_zid",
        "seq",
        "kind",
        "key",
        "payload",
        "payload_size",
        "encoding",
        "timestamp",
        "timestamp_ns",
        "priority",
        "congestion",
        "express",
        "reliability",
        "attachment",
        "source_zid",
        "source_eid",
        "source_sn",
        "ignored",
        "trace_id",
    )

    def __init__(
        self,
        *,
        session: Session | None,
        link: str | None,
        packet: int | None,
        time_ns: int | None,
        sender_zid: Node | None,
        receiver_zid: Node | None,
        seq: int | None,
        kind: str | None,
        key: str | None,
        payload: bytes | None,
        payload_size: int | None,
        encoding: str | None,
        timestamp: str | None,
        timestamp_ns: int | None,
        priority: int | None,
        congestion: str | None,
        express: bool | None,
        reliability: str | None,
        attachment: bytes | None,
        source_zid: str | None,
        source_eid: int | None,
        source_sn: int | None,
        ignored: str | None,
        trace_id: int | None,
    ) -> None:
        self.session = session
        self.link = link
        self.packet = packet
        self.time_ns = time_ns
        self.sender_zid = sender_zid
        self.receiver_zid = receiver_zid
        self.seq = seq
        self.kind = kind
        self.key = key
        self.payload = payload
        self.payload_size = payload_size
        self.encoding = encoding
        self.timestamp = timestamp
        self.timestamp_ns = timestamp_ns
        self.priority = priority
        self.congestion = congestion
        self.express = express
        self.reliability = reliability
        self.attachment = attachment
        self.source_zid = source_zid
        self.source_eid = source_eid
        self.source_sn = source_sn
        self.ignored = ignored
        self.trace_id = trace_id


@mypyc_attr(acyclic=True)
class SessionsRow(Record):
    """A row of `sessions`."""

    __slots__ = (
        "acceptor_address",
        "acceptor_lease_ms",
        "acceptor_role",
        "acceptor_silent_ms",
        "acceptor_zid",
        "auth",
        "batch_size",
        "cause",
        "close_reason",
        "closed_ns",
        "compression",
        "end_packet",
        "ended_by",
        "ender",
        "link",
        "links",
        "lowlatency",
        "members",
        "opened_ns",
        "opener_address",
        "opener_lease_ms",
        "opener_role",
        "opener_silent_ms",
        "opener_zid",
        "outcome",
        "patch",
        "qos",
        "reason",
        "session",
        "sn_bits",
        "step",
        "time_ns",
        "version",
    )
    TABLE: ClassVar[str] = "sessions"
    COLUMNS: ClassVar[tuple[str, ...]] = (
        "session",
        "link",
        "time_ns",
        "opener_zid",
        "acceptor_zid",
        "opener_role",
        "acceptor_role",
        "opened_ns",
        "closed_ns",
        "outcome",
        "close_reason",
        "qos",
        "compression",
        "lowlatency",
        "patch",
        "sn_bits",
        "batch_size",
        "opener_lease_ms",
        "acceptor_lease_ms",
        "links",
        "members",
        "opener_address",
        "acceptor_address",
        "step",
        "version",
        "auth",
        "ended_by",
        "ender",
        "end_packet",
        "opener_silent_ms",
        "acceptor_silent_ms",
        "cause",
        "reason",
    )

    def __init__(
        self,
        *,
        session: str | None,
        link: str | None,
        time_ns: int | None,
        opener_zid: str | None,
        acceptor_zid: str | None,
        opener_role: str | None,
        acceptor_role: str | None,
        opened_ns: int | None,
        closed_ns: int | None,
        outcome: str | None,
        close_reason: str | None,
        qos: bool | None,
        compression: bool | None,
        lowlatency: bool | None,
        patch: int | None,
        sn_bits: int | None,
        batch_size: int | None,
        opener_lease_ms: float | None,
        acceptor_lease_ms: float | None,
        links: int | None,
        members: str | None,
        opener_address: str | None,
        acceptor_address: str | None,
        step: str | None,
        version: int | None,
        auth: str | None,
        ended_by: str | None,
        ender: str | None,
        end_packet: int | None,
        opener_silent_ms: float | None,
        acceptor_silent_ms: float | None,
        cause: str | None,
        reason: str | None,
    ) -> None:
        self.session = session
        self.link = link
        self.time_ns = time_ns
        self.opener_zid = opener_zid
        self.acceptor_zid = acceptor_zid
        self.opener_role = opener_role
        self.acceptor_role = acceptor_role
        self.opened_ns = opened_ns
        self.closed_ns = closed_ns
        self.outcome = outcome
        self.close_reason = close_reason
        self.qos = qos
        self.compression = compression
        self.lowlatency = lowlatency
        self.patch = patch
        self.sn_bits = sn_bits
        self.batch_size = batch_size
        self.opener_lease_ms = opener_lease_ms
        self.acceptor_lease_ms = acceptor_lease_ms
        self.links = links
        self.members = members
        self.opener_address = opener_address
        self.acceptor_address = acceptor_address
        self.step = step
        self.version = version
        self.auth = auth
        self.ended_by = ended_by
        self.ender = ender
        self.end_packet = end_packet
        self.opener_silent_ms = opener_silent_ms
        self.acceptor_silent_ms = acceptor_silent_ms
        self.cause = cause
        self.reason = reason


@mypyc_attr(acyclic=True)
class LossesRow(SessionRecord):
    """A row of `losses`."""

    __slots__ = (
        "bytes",
        "cause",
        "count",
        "kind",
        "link",
        "packet",
        "priority",
        "receiver_zid",
        "reliability",
        "sender_zid",
        "time_ns",
    )
    TABLE: ClassVar[str] = "losses"
    COLUMNS: ClassVar[tuple[str, ...]] = (
        "session",
        "link",
        "packet",
        "time_ns",
        "kind",
        "sender_zid",
        "receiver_zid",
        "priority",
        "reliability",
        "count",
        "bytes",
        "cause",
    )

    def __init__(
        self,
        *,
        session: Session | None,
        link: str | None,
        packet: int | None,
        time_ns: int | None,
        kind: str | None,
        sender_zid: Node | None,
        receiver_zid: Node | None,
        priority: int | None,
        reliability: str | None,
        count: int | None,
        bytes: int | None,
        cause: str | None,
    ) -> None:
        self.session = session
        self.link = link
        self.packet = packet
        self.time_ns = time_ns
        self.kind = kind
        self.sender_zid = sender_zid
        self.receiver_zid = receiver_zid
        self.priority = priority
        self.reliability = reliability
        self.count = count
        self.bytes = bytes
        self.cause = cause


@mypyc_attr(acyclic=True)
class ViolationsRow(SessionRecord):
    """A row of `violations`."""

    __slots__ = (
        "link",
        "message",
        "packet",
        "page",
        "rule",
        "sender_zid",
        "severity",
        "time_ns",
        "times",
    )
    TABLE: ClassVar[str] = "violations"
    COLUMNS: ClassVar[tuple[str, ...]] = (
        "session",
        "link",
        "packet",
        "time_ns",
        "rule",
        "severity",
        "sender_zid",
        "message",
        "page",
        "times",
    )

    def __init__(
        self,
        *,
        session: Session | None,
        link: str | None,
        packet: int | None,
        time_ns: int | None,
        rule: str | None,
        severity: str | None,
        sender_zid: Node | None,
        message: str | None,
        page: str | None,
        times: int | None,
    ) -> None:
        self.session = session
        self.link = link
        self.packet = packet
        self.time_ns = time_ns
        self.rule = rule
        self.severity = severity
        self.sender_zid = sender_zid
        self.message = message
        self.page = page
        self.times = times


@mypyc_attr(acyclic=True)
class ExchangeEventsRow(SessionRecord):
    """A row of `exchange_events`."""

    __slots__ = (
        "attachment",
        "budget",
        "congestion",
        "consolidation",
        "encoding",
        "express",
        "key",
        "kind",
        "link",
        "packet",
        "parameters",
        "payload",
        "priority",
        "replier_eid",
        "replier_zid",
        "request_id",
        "requester_zid",
        "responder_zid",
        "seq",
        "side",
        "source",
        "target",
        "time_ns",
        "timeout_ms",
        "timestamp",
        "timestamp_order",
    )
    TABLE: ClassVar[str] = "exchange_events"
    COLUMNS: ClassVar[tuple[str, ...]] = (
        "session",
        "link",
        "packet",
        "time_ns",
        "seq",
        "side",
        "kind",
        "requester_zid",
        "responder_zid",
        "request_id",
        "key",
        "parameters",
        "target",
        "consolidation",
        "timeout_ms",
        "budget",
        "payload",
        "encoding",
        "attachment",
        "source",
        "replier_zid",
        "replier_eid",
        "timestamp",
        "timestamp_order",
        "priority",
        "congestion",
        "express",
    )

    def __init__(
        self,
        *,
        session: Session | None,
        link: str | None,
        packet: int | None,
        time_ns: int | None,
        seq: int | None,
        side: int | None,
        kind: str | None,
        requester_zid: Node | None,
        responder_zid: Node | None,
        request_id: int | None,
        key: str | None,
        parameters: str | None,
        target: str | None,
        consolidation: str | None,
        timeout_ms: float | None,
        budget: int | None,
        payload: bytes | None,
        encoding: str | None,
        attachment: bytes | None,
        source: str | None,
        replier_zid: str | None,
        replier_eid: int | None,
        timestamp: str | None,
        timestamp_order: str | None,
        priority: int | None,
        congestion: str | None,
        express: bool | None,
    ) -> None:
        self.session = session
        self.link = link
        self.packet = packet
        self.time_ns = time_ns
        self.seq = seq
        self.side = side
        self.kind = kind
        self.requester_zid = requester_zid
        self.responder_zid = responder_zid
        self.request_id = request_id
        self.key = key
        self.parameters = parameters
        self.target = target
        self.consolidation = consolidation
        self.timeout_ms = timeout_ms
        self.budget = budget
        self.payload = payload
        self.encoding = encoding
        self.attachment = attachment
        self.source = source
        self.replier_zid = replier_zid
        self.replier_eid = replier_eid
        self.timestamp = timestamp
        self.timestamp_order = timestamp_order
        self.priority = priority
        self.congestion = congestion
        self.express = express


@mypyc_attr(acyclic=True)
class DeclareEventsRow(SessionRecord):
    """A row of `declare_events`."""

    __slots__ = (
        "complete",
        "distance",
        "entity",
        "entity_id",
        "identity",
        "interest_id",
        "is_answer",
        "is_end",
        "key",
        "key_identity",
        "link",
        "node_id",
        "owner",
        "packet",
        "receiver_zid",
        "sender_zid",
        "seq",
        "time_ns",
    )
    TABLE: ClassVar[str] = "declare_events"
    COLUMNS: ClassVar[tuple[str, ...]] = (
        "session",
        "link",
        "packet",
        "time_ns",
        "seq",
        "sender_zid",
        "receiver_zid",
        "owner",
        "is_end",
        "is_answer",
        "entity",
        "entity_id",
        "key",
        "identity",
        "key_identity",
        "complete",
        "distance",
        "interest_id",
        "node_id",
    )

    def __init__(
        self,
        *,
        session: Session | None,
        link: str | None,
        packet: int | None,
        time_ns: int | None,
        seq: int | None,
        sender_zid: Node | None,
        receiver_zid: Node | None,
        owner: str | None,
        is_end: bool | None,
        is_answer: bool | None,
        entity: str | None,
        entity_id: int | None,
        key: str | None,
        identity: str | None,
        key_identity: str | None,
        complete: bool | None,
        distance: int | None,
        interest_id: int | None,
        node_id: int | None,
    ) -> None:
        self.session = session
        self.link = link
        self.packet = packet
        self.time_ns = time_ns
        self.seq = seq
        self.sender_zid = sender_zid
        self.receiver_zid = receiver_zid
        self.owner = owner
        self.is_end = is_end
        self.is_answer = is_answer
        self.entity = entity
        self.entity_id = entity_id
        self.key = key
        self.identity = identity
        self.key_identity = key_identity
        self.complete = complete
        self.distance = distance
        self.interest_id = interest_id
        self.node_id = node_id


@mypyc_attr(acyclic=True)
class InterestEventsRow(SessionRecord):
    """A row of `interest_events`."""

    __slots__ = (
        "event",
        "interest_id",
        "key",
        "link",
        "mode",
        "options",
        "packet",
        "receiver_zid",
        "sender_zid",
        "seq",
        "side",
        "time_ns",
    )
    TABLE: ClassVar[str] = "interest_events"
    COLUMNS: ClassVar[tuple[str, ...]] = (
        "session",
        "link",
        "packet",
        "time_ns",
        "seq",
        "side",
        "event",
        "sender_zid",
        "receiver_zid",
        "interest_id",
        "mode",
        "options",
        "key",
    )

    def __init__(
        self,
        *,
        session: Session | None,
        link: str | None,
        packet: int | None,
        time_ns: int | None,
        seq: int | None,
        side: int | None,
        event: str | None,
        sender_zid: Node | None,
        receiver_zid: Node | None,
        interest_id: int | None,
        mode: str | None,
        options: str | None,
        key: str | None,
    ) -> None:
        self.session = session
        self.link = link
        self.packet = packet
        self.time_ns = time_ns
        self.seq = seq
        self.side = side
        self.event = event
        self.sender_zid = sender_zid
        self.receiver_zid = receiver_zid
        self.interest_id = interest_id
        self.mode = mode
        self.options = options
        self.key = key


@mypyc_attr(acyclic=True)
class EdgeEventsRow(SessionRecord):
    """A row of `edge_events`."""

    __slots__ = (
        "has_links",
        "link",
        "neighbour_zid",
        "packet",
        "seq",
        "sn",
        "time_ns",
        "told_by_zid",
        "weight",
        "zid",
    )
    TABLE: ClassVar[str] = "edge_events"
    COLUMNS: ClassVar[tuple[str, ...]] = (
        "session",
        "link",
        "packet",
        "time_ns",
        "seq",
        "told_by_zid",
        "zid",
        "sn",
        "has_links",
        "neighbour_zid",
        "weight",
    )

    def __init__(
        self,
        *,
        session: Session | None,
        link: str | None,
        packet: int | None,
        time_ns: int | None,
        seq: int | None,
        told_by_zid: str | None,
        zid: str | None,
        sn: int | None,
        has_links: bool | None,
        neighbour_zid: str | None,
        weight: int | None,
    ) -> None:
        self.session = session
        self.link = link
        self.packet = packet
        self.time_ns = time_ns
        self.seq = seq
        self.told_by_zid = told_by_zid
        self.zid = zid
        self.sn = sn
        self.has_links = has_links
        self.neighbour_zid = neighbour_zid
        self.weight = weight


@mypyc_attr(acyclic=True)
class NodeEventsRow(Record):
    """A row of `node_events`."""

    __slots__ = (
        "address",
        "first_ns",
        "last_ns",
        "locators",
        "role",
        "zid",
    )
    TABLE: ClassVar[str] = "node_events"
    COLUMNS: ClassVar[tuple[str, ...]] = (
        "zid",
        "role",
        "locators",
        "first_ns",
        "last_ns",
        "address",
    )

    def __init__(
        self,
        *,
        zid: str | None,
        role: str | None,
        locators: str | None,
        first_ns: int | None,
        last_ns: int | None,
        address: str | None,
    ) -> None:
        self.zid = zid
        self.role = role
        self.locators = locators
        self.first_ns = first_ns
        self.last_ns = last_ns
        self.address = address


RECORDS: Final[dict[str, type[Record]]] = {
    "batches": BatchesRow,
    "messages": MessagesRow,
    "samples": SamplesRow,
    "sessions": SessionsRow,
    "losses": LossesRow,
    "violations": ViolationsRow,
    "exchange_events": ExchangeEventsRow,
    "declare_events": DeclareEventsRow,
    "interest_events": InterestEventsRow,
    "edge_events": EdgeEventsRow,
    "node_events": NodeEventsRow,
}
