"""Sessions, the nodes in them, and what is missing, as rows."""

from __future__ import annotations

from zenlake.trace.events import Missing
from zenlake.trace.rows.rows import Rows
from zenlake.trace.session import Session
from zenlake.trace.session_ends import OPENER, cause_of, end_of, reason_of


def add_session(rows: Rows, session: Session) -> None:
    """Once nothing more changes it."""
    if session.is_multicast:
        add_nodes(rows, session)
    sessions = rows.tables.get("sessions")
    if sessions is None:
        return
    opener, acceptor = session.nodes
    end = end_of(session)

    def who(side: str) -> str:
        node = opener if side == OPENER else acceptor
        return f"the {side}" if node.zid is None else f"node {node.zid}"

    members = sorted(node.zid for node in session.members.values() if node.zid is not None)
    sessions.append(
        (
            session.id,
            session.links[0].name,
            session.started_ns,
            opener.zid,
            acceptor.zid,
            opener.role,
            acceptor.role,
            session.opened_ns,
            session.closed_ns,
            session.outcome,
            session.close_reason,
            session.qos,
            session.compression,
            session.lowlatency,
            session.patch,
            session.sn_bits,
            session.batch_size,
            _ms(opener.lease_ms),
            _ms(acceptor.lease_ms),
            len(session.links),
            " ".join(members) if session.is_multicast else None,
            opener.address,
            None if session.is_multicast else acceptor.address,
            end.step,
            end.version,
            end.auth or None,
            end.ended_by,
            end.ender,
            end.end_packet,
            end.opener_silent_ms,
            end.acceptor_silent_ms,
            None if session.is_multicast else cause_of(end),
            None if session.is_multicast else reason_of(end, who),
        )
    )


def _ms(lease_ms: int | None) -> float | None:
    return None if lease_ms is None else float(lease_ms)


def add_nodes(rows: Rows, session: Session) -> None:
    """Once its links are over: what was held back may come after the end of the session."""
    events = rows.tables.get("node_events")
    if events is None:
        return
    for node in session.members.values() if session.is_multicast else session.nodes:
        if node.zid is not None:
            last_ns = max(node.heard_ns, session.started_ns)
            events.append((node.zid, node.role, None, session.started_ns, last_ns, node.address))


def add_loss(rows: Rows, missing: Missing) -> None:
    losses = rows.tables.get("losses")
    if losses is None:
        return
    link = missing.link
    session = link.session
    sender = receiver = None
    if session is not None and session.is_multicast:
        sender = session.members.get(link.ends[0])
    elif session is not None:
        side = link.sides[missing.direction]
        sender, receiver = session.nodes[side], session.nodes[1 - side]
    reliable = missing.reliable
    losses.append(
        (
            session,
            link.name,
            missing.packet,
            missing.time_ns,
            missing.kind,
            sender,
            receiver,
            missing.priority,
            None if reliable is None else "reliable" if reliable else "best_effort",
            missing.count or None,
            missing.bytes or None,
            missing.cause,
        )
    )
