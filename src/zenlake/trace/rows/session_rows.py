"""Sessions, the nodes in them, and what is missing, as rows."""

from __future__ import annotations

from zenlake.trace.events import Missing
from zenlake.trace.rows.rows import Rows
from zenlake.trace.session import Node, Session


def add_session(rows: Rows, session: Session) -> None:
    """Once nothing more changes it."""
    opener, acceptor = session.nodes
    is_group = session.is_multicast
    members = sorted(node.zid for node in session.members.values() if node.zid is not None)
    rows.tables["sessions"].append(
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
            " ".join(members) if is_group else None,
        )
    )
    if is_group:
        add_nodes(rows, session)


def _ms(lease_ms: int | None) -> float | None:
    return None if lease_ms is None else float(lease_ms)


def add_nodes(rows: Rows, session: Session) -> None:
    """Once its links are over: what was held back may come after the end of the session."""
    for node in session.members.values() if session.is_multicast else session.nodes:
        _add_node(rows, session, node)


def _add_node(rows: Rows, session: Session, node: Node) -> None:
    if node.zid is not None:
        last_ns = max(node.heard_ns, session.started_ns)
        row = (node.zid, node.role, None, session.started_ns, last_ns)
        rows.tables["node_events"].append(row)


def add_loss(rows: Rows, missing: Missing) -> None:
    link = missing.link
    session = link.session
    sender = receiver = None
    if session is not None and session.is_multicast:
        sender = session.members.get(link.ends[0])
    elif session is not None:
        side = link.sides[missing.direction]
        sender, receiver = session.nodes[side], session.nodes[1 - side]
    reliable = missing.reliable
    rows.tables["losses"].append(
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
