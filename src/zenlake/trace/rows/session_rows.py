"""The rows of sessions, nodes and losses."""

from __future__ import annotations

from zenlake.trace.events import Missing
from zenlake.trace.rows._generated.records import LossesRow, NodeEventsRow, SessionsRow
from zenlake.trace.rows.rows import Rows
from zenlake.trace.session import Session
from zenlake.trace.session_ends import OPENER, cause_of, end_of, reason_of


def add_session(rows: Rows, session: Session) -> None:
    """Adds a session, whose values must be final."""
    if session.is_multicast:
        add_nodes(rows, session)
    sessions = rows.wanted(SessionsRow)
    if sessions is None:
        return
    opener, acceptor = session.nodes
    end = end_of(session)

    def who(side: str) -> str:
        node = opener if side == OPENER else acceptor
        return f"the {side}" if node.zid is None else f"node {node.zid}"

    members = sorted(node.zid for node in session.members.values() if node.zid is not None)
    sessions.append(
        SessionsRow(
            session=session.id,
            link=session.links[0].name,
            time_ns=session.started_ns,
            opener_zid=opener.zid,
            acceptor_zid=acceptor.zid,
            opener_role=opener.role,
            acceptor_role=acceptor.role,
            opened_ns=session.opened_ns,
            closed_ns=session.closed_ns,
            outcome=session.outcome,
            close_reason=session.close_reason,
            qos=session.qos,
            compression=session.compression,
            lowlatency=session.lowlatency,
            patch=session.patch,
            sn_bits=session.sn_bits,
            batch_size=session.batch_size,
            opener_lease_ms=end.opener_lease_ms,
            acceptor_lease_ms=end.acceptor_lease_ms,
            links=len(session.links),
            members=" ".join(members) if session.is_multicast else None,
            opener_address=opener.address,
            acceptor_address=None if session.is_multicast else acceptor.address,
            step=end.step,
            version=end.version,
            auth=end.auth or None,
            ended_by=end.ended_by,
            ender=end.ender,
            end_packet=end.end_packet,
            opener_silent_ms=end.opener_silent_ms,
            acceptor_silent_ms=end.acceptor_silent_ms,
            cause=None if session.is_multicast else cause_of(end),
            reason=None if session.is_multicast else reason_of(end, who),
        )
    )


def add_nodes(rows: Rows, session: Session) -> None:
    """Adds the nodes of a session. Its links must have ended: held messages may follow its end."""
    events = rows.wanted(NodeEventsRow)
    if events is None:
        return
    for node in session.members.values() if session.is_multicast else session.nodes:
        if node.zid is not None:
            last_ns = max(node.last_seen_ns, session.started_ns)
            events.append(
                NodeEventsRow(
                    zid=node.zid,
                    role=node.role,
                    locators=None,
                    first_ns=session.started_ns,
                    last_ns=last_ns,
                    address=node.address,
                )
            )


def add_loss(rows: Rows, missing: Missing) -> None:
    losses = rows.wanted(LossesRow)
    if losses is None:
        return
    sender, receiver = missing.nodes
    losses.append(
        LossesRow(
            session=missing.link.session,
            link=missing.link.name,
            packet=missing.packet,
            time_ns=missing.time_ns,
            kind=missing.kind,
            sender_zid=sender,
            receiver_zid=receiver,
            priority=missing.priority,
            reliability=missing.reliability,
            count=missing.count or None,
            bytes=missing.bytes or None,
            cause=missing.cause,
        )
    )
