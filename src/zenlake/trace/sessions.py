"""Sessions: assigns links to sessions, and follows their handshakes and ends.

Two links may share a session (two peers that dial each other, or multilink); keys and sequence
numbers belong to the session, not to the link.
"""

from __future__ import annotations

from zenlake.limits import TRACE_SESSIONS_MAX
from zenlake.trace.channel import Channel, IncompleteMessages
from zenlake.trace.events import MessageSeen, SessionChanged, TraceEvent
from zenlake.trace.link import Link, LinkBatch, LinkClosed
from zenlake.trace.links.units import COMPRESSED, LOW_LATENCY
from zenlake.trace.session import KeyMemory, Node, Session, close_reason, lease_ms
from zenlake.wire import Close, Hello, Init, Join, Open, Scout
from zenlake.wire.defaults import DEFAULT_GROUP_BATCH_BYTES, DEFAULT_PRIORITY
from zenlake.wire.message import Message
from zenlake.wire.sequence import previous_sn
from zenlake.wire.values.resolution import DEFAULT_RESOLUTION


class Sessions:
    """All sessions of a capture, as far as it has been read."""

    __slots__ = (
        "_by_pair",
        "_found",
        "_found_max",
        "_groups",
        "_out",
        "forgotten",
        "keys",
        "reassembly",
    )

    def __init__(self, out: list[TraceEvent]) -> None:
        self._out = out
        self._found_max = TRACE_SESSIONS_MAX
        self._found: dict[Session, None] = {}
        """A dict, because an attempt that joins another session is removed."""
        self.forgotten = 0
        """How many closed sessions were dropped from `found` at its limit."""
        self.reassembly = IncompleteMessages()
        self.keys = KeyMemory()
        self._by_pair: dict[tuple[str, str], Session] = {}
        self._groups: dict[str, Session] = {}

    @property
    def found(self) -> list[Session]:
        """All sessions in the order in which they began."""
        return list(self._found)

    @property
    def found_count(self) -> int:
        return len(self._found)

    def remembers(self, session: Session) -> bool:
        """Whether the session is in `found`."""
        return session in self._found

    # --- beginning -----------------------------------------------------------------------

    def begin(self, batch: LinkBatch) -> Session:
        """Creates the session of a link that has none yet."""
        link = batch.link
        if link.protocol == "multicast":
            return self._group(batch)
        first = batch.messages[0] if batch.messages else None
        seen_start = isinstance(first, Init)
        session = Session(link.name, link, batch.time_ns, seen_start)
        if not seen_start and link.form is not None:
            session.compression = link.form == COMPRESSED
            session.lowlatency = link.form == LOW_LATENCY
        if isinstance(first, Init) and (first.cookie is None) == (batch.direction == 1):
            link.opener = 1
            link.sides = (1, 0)
            session.nodes = (session.nodes[1], session.nodes[0])
        self._remember(session)
        link.session = session
        self._report(batch, session, "attempted" if seen_start else "found")
        return session

    def _remember(self, session: Session) -> None:
        self._found[session] = None
        if len(self._found) > self._found_max:
            kept = [one for one in self._found if one.closed_ns is None][-self._found_max // 2 :]
            self.forgotten += len(self._found) - len(kept)
            found, self._found = self._found, dict.fromkeys(kept)
            for one in found:
                if one not in self._found and all(link.is_closed for link in one.links):
                    # This breaks the reference cycle, so that the memory is freed now.
                    for link in one.links:
                        link.session = None

    def _group(self, batch: LinkBatch) -> Session:
        link = batch.link
        address = link.ends[1]
        session = self._groups.get(address)
        if session is None:
            session = Session(address, link, batch.time_ns, True)
            session.is_multicast = session.is_open = True
            session.nodes = (Node(address), Node(address))
            session.opened_ns = batch.time_ns
            session.outcome = "open"
            self._groups[address] = session
            self._remember(session)
            self._report(batch, session, "found")
        else:
            session.links.append(link)
        link.session = session
        return session

    # --- handshake -----------------------------------------------------------------------

    def transport(self, batch: LinkBatch, session: Session, event: MessageSeen) -> None:
        """Applies a transport message other than FRAME and FRAGMENT."""
        message = event.message
        if isinstance(message, (Init, Open)) and session.is_open:
            if not session.is_multicast and batch.link.session is session:
                event.ignored = "the session is open"
        elif isinstance(message, (Init, Open)) and session.closed_ns is not None:
            event.ignored = "the session is over"
        elif isinstance(message, Init):
            self._init(session, message)
        elif isinstance(message, Open):
            self._open(batch, session, message)
        elif isinstance(message, Close):
            self._close(batch, session, message)
        elif isinstance(message, Join):
            self._join(batch, session, message, event)

    def _init(self, session: Session, init: Init) -> None:
        if init.cookie is None:
            session.nodes[0].identify(init)
            session.step, session.version = "INIT_SYN", init.version
        else:
            session.nodes[1].identify(init)
            session.agree(init)
            session.step = "INIT_ACK"
        session.auth[session.step] = init.auth is not None

    def _open(self, batch: LinkBatch, session: Session, message: Open) -> None:
        session.step = "OPEN_ACK" if message.cookie is None else "OPEN_SYN"
        session.auth[session.step] = message.auth is not None
        if message.cookie is not None:
            _apply_open(session.nodes[0], message)
            return
        _apply_open(session.nodes[1], message)
        self.opened(batch, session)

    def opened(self, batch: LinkBatch, session: Session) -> None:
        """Marks the session as open: OPEN_ACK was seen, or data implies it."""
        link = batch.link
        pair = _pair_of(session)
        old = None if pair is None else self._by_pair.get(pair)
        if old is not None and old.is_open and old is not session:
            if _share(old, session):
                self._merge(batch, session, old)
                return
            old.note_end("again", None, batch.packet)
            self._end(batch.packet, batch.time_ns, link, old, "lost")
        if pair is not None:
            self._by_pair[pair] = session
        session.is_open = True
        session.opened_ns = batch.time_ns
        if session.seen_start:
            session.outcome = "open"
        self._report(batch, session, "opened")

    def _merge(self, batch: LinkBatch, attempt: Session, session: Session) -> None:
        """Adds a link to an open session. Side 0 of the session may be the acceptor of the link."""
        link = batch.link
        attempt.id = session.id
        self._found.pop(attempt, None)
        if attempt.nodes[0].zid != session.nodes[0].zid:
            link.sides = (1 - link.sides[0], 1 - link.sides[1])
        link.session = session
        session.links.append(link)
        self._report(batch, session, "joined")

    def _join(self, batch: LinkBatch, session: Session, join: Join, event: MessageSeen) -> None:
        if not session.is_multicast:
            event.ignored = "no multicast group"
            return
        address = batch.link.ends[0]
        member = session.members.get(address)
        if member is not None and member.zid is not None and not batch.link.is_closed:
            event.sender_node = member
            return
        batch.link.is_closed = False
        session.closed_ns, session.outcome = None, "open"
        member = session.members[address] = Node(address)
        member.identify(join)
        member.lease_ms = lease_ms(join)
        session.patch = min(1, join.patch or 0)
        session.qos = join.qos is not None
        resolution = join.resolution or DEFAULT_RESOLUTION
        session.sn_bits, session.mask = resolution.sn_bits, resolution.sn_mask
        session.batch_size = (
            DEFAULT_GROUP_BATCH_BYTES if join.batch_size is None else join.batch_size
        )
        event.sender_node = member
        for key, next_sn in _next_numbers(join).items():
            member.channels[key] = Channel(self.reassembly, previous_sn(next_sn, session.mask))
        self._report(batch, session, "joined")

    # --- end -----------------------------------------------------------------------------

    def _close(self, batch: LinkBatch, session: Session, message: Close) -> None:
        link = batch.link
        reason = close_reason(message.reason)
        if session.is_multicast:
            if not link.is_closed and link.ends[0] in session.members:
                self._report(batch, session, "left")
            link.is_closed = True
            if all(one.is_closed for one in session.links):
                session.closed_ns = batch.time_ns
                session.outcome = "closed"
            return
        if session.closed_ns is not None:
            link.is_closed = True
            return
        if session.close_reason is None:
            session.close_reason = reason
        if link.end is not None and not session.is_open:
            # One side ended the connection during the handshake; this CLOSE is the reaction.
            first_to_end = session.nodes[link.sides[link.end.direction]]
            session.note_end(link.end.cause, first_to_end, link.end.packet)
        session.note_end("close", session.nodes[link.sides[batch.direction]], batch.packet)
        link.is_closed = True
        for one in session.links if message.session else ():
            one.is_closed = True
        if all(one.is_closed for one in session.links):
            change = "closed" if session.is_open or not session.seen_start else "refused"
            self._end(batch.packet, batch.time_ns, link, session, change)

    def link_closed(self, item: LinkClosed) -> None:
        """Handles the end of a connection: without CLOSE on its last link, the session is lost."""
        link = item.link
        session = link.session
        if session is None:
            return
        if session.is_multicast:
            if item.cause == "idle":
                self._member_gone(link, session)
            return
        was_closed, link.is_closed = link.is_closed, True
        is_over = all(one.is_closed for one in session.links)
        if item.cause in ("end", "idle"):
            if session.outcome == "refused" and session.closed_ns is None:
                # The handshake was in progress.
                session.outcome = "open"
            self._expire(item, session)
        elif is_over and not was_closed and session.closed_ns is None:
            change = "lost" if session.is_open or not session.seen_start else "refused"
            if link.end is not None:
                ender = session.nodes[link.sides[link.end.direction]]
                session.note_end(link.end.cause, ender, link.end.packet)
            self._end(item.packet, link.ended_ns or item.time_ns, link, session, change)
        if is_over:
            for node in session.nodes:
                self.keys.bytes -= node.forget()

    def _member_gone(self, link: Link, session: Session) -> None:
        link.is_closed = True
        member = session.members.pop(link.ends[0], None)
        if member is not None:
            self.keys.bytes -= member.forget()
        if all(one.is_closed for one in session.links):
            self._groups.pop(session.id, None)
        elif len(session.links) > 1:
            session.links.remove(link)

    def _expire(self, item: LinkClosed, session: Session) -> None:
        """Ends the session at the end of the capture if a side was silent beyond its lease."""
        if session.closed_ns is not None or not session.is_open:
            return
        for node in session.nodes:
            lease = node.lease_ms
            if lease is None or not node.last_seen_ns:
                continue
            silent_until = node.last_seen_ns + lease * 1_000_000
            if silent_until < item.time_ns:
                session.note_end("lease", None, None)
                self._end(item.packet, item.time_ns, item.link, session, "lost")
                session.closed_ns = silent_until
                return

    def _end(self, packet: int, time_ns: int, link: Link, session: Session, change: str) -> None:
        session.is_open = False
        session.closed_ns = time_ns
        session.note_silence(time_ns)
        if session.seen_start:
            session.outcome = change
        pair = _pair_of(session)
        if pair is not None and self._by_pair.get(pair) is session:
            del self._by_pair[pair]
        self._out.append(SessionChanged(packet, time_ns, link, session, change))

    def _report(self, batch: LinkBatch, session: Session, change: str) -> None:
        self._out.append(SessionChanged(batch.packet, batch.time_ns, batch.link, session, change))


def sender_node(batch: LinkBatch, session: Session) -> Node:
    """The node that sent a batch; in a group, a member whose JOIN may not have been seen yet."""
    link = batch.link
    if not session.is_multicast:
        return session.nodes[link.sides[batch.direction]]
    address = link.ends[0]
    member = session.members.get(address)
    if member is None:
        member = session.members[address] = Node(address)
    return member


def scouting_node(message: Message, address: str) -> Node | None:
    if isinstance(message, Scout):
        zid = None if message.zid is None else str(message.zid)
        return Node(address, zid)
    if isinstance(message, Hello):
        return Node(address, str(message.zid), str(message.whatami))
    return None


def _pair_of(session: Session) -> tuple[str, str] | None:
    """The ids of both nodes, in their order as text; None if one is not known."""
    one, other = session.nodes[0].zid, session.nodes[1].zid
    return None if one is None or other is None else (min(one, other), max(one, other))


def _share(old: Session, new: Session) -> bool:
    """Whether two links between the same nodes belong to one session.

    They do if both negotiated multilink, or if the two nodes dialled each other. A node that
    dials again has lost its session, even if the capture does not show it.
    """
    if old.multilink and new.multilink:
        return True
    return old.nodes[0].zid == new.nodes[1].zid and any(not one.is_closed for one in old.links)


def _apply_open(node: Node, message: Open) -> None:
    node.lease_ms = lease_ms(message)
    node.initial_sn = message.initial_sn


def _next_numbers(join: Join) -> dict[int, int]:
    """The next sequence number of each channel, as `channel_key` numbers them."""
    if join.qos is None:
        return {
            DEFAULT_PRIORITY << 1 | 1: join.next_sn_re,
            DEFAULT_PRIORITY << 1: join.next_sn_be,
        }
    numbers: dict[int, int] = {}
    for priority, lane in enumerate(join.qos.lanes):
        numbers[priority << 1 | 1] = lane.reliable
        numbers[priority << 1] = lane.best_effort
    return numbers
