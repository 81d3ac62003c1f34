"""Checker: feed it the items of links and their events; it returns violations of the rules.

Only what the capture shows is checked. Rules that depend on earlier messages are applied only
while a session is complete: from its INIT on, without a gap, on one stream. After a gap the session
is not checked any more, because the batch boundaries that are found afterwards may be wrong.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection
from typing import Any, Final

from zenlake.errors import WireError
from zenlake.limits import RULES_FINDINGS_PER_SIDE_MAX, TRACE_SCOUTS_MAX
from zenlake.rules.book import BY_DECLARATION, BY_SUBJECT, RULES
from zenlake.rules.facts import (
    DATAGRAMS,
    OPENED,
    Ending,
    Line,
    OpenFragments,
    OpenInterest,
    OpenRequest,
    Seen,
    SeenBatch,
    SeenLack,
    Side,
    Talk,
)
from zenlake.rules.finding import Finding, Place, batch_place, place_of
from zenlake.rules.memory import forget_fragments, remember
from zenlake.rules.rule import NOTE, Rule
from zenlake.rules.spelling import Oddity, oddities
from zenlake.trace.events import (
    MessageSeen,
    Missing,
    SessionChanged,
    TraceEvent,
    Undecoded,
    ends_session,
)
from zenlake.trace.link import Link, LinkBatch, LinkClosed
from zenlake.trace.links.connection import LinkItem
from zenlake.trace.session import Node, Session
from zenlake.trace.sessions import sender_node
from zenlake.wire import Close, Declare, Fragment, Init, Open, Scout
from zenlake.wire.compression import decompress_batch
from zenlake.wire.message import NetworkMessage

_STREAMS: Final = ("tcp", "ws")
"""Protocols whose captures are complete or show their gaps."""
_LOST: Final = ("tcp_gap", "truncated", "resync")
_NOTHING: Final[list[Rule]] = []


class Checker:
    """`findings` grows; the caller that feeds the checker empties it."""

    __slots__ = (
        "_asked",
        "_by_declaration",
        "_by_subject",
        "_lines",
        "_nobody",
        "_talks",
        "counts",
        "findings",
    )

    def __init__(self, only: Collection[str] | None = None) -> None:
        self.findings: list[Finding] = []
        self.counts: dict[str, int] = {}
        """How often each rule was broken: the sum of `times` of all its findings.

        A note counts once for each side of a session, as it is reported.
        """
        self._by_subject = BY_SUBJECT if only is None else _chosen(BY_SUBJECT, only)
        self._by_declaration = BY_DECLARATION if only is None else _chosen(BY_DECLARATION, only)
        self._talks: dict[Session, Talk] = {}
        self._lines: dict[Link, Line] = {}
        self._nobody = Talk(None, False)
        self._asked: OrderedDict[str, int] = OrderedDict()

    def feed(self, item: LinkItem, events: list[TraceEvent]) -> None:
        if isinstance(item, LinkBatch):
            self._batch(item)
        for event in events:
            if isinstance(event, MessageSeen):
                self.see(event)
            elif isinstance(event, (Missing, Undecoded)):
                self._lack(event)
            elif isinstance(event, SessionChanged):
                self._session(event)
        if isinstance(item, LinkBatch):
            self._after_batch(item)
        elif isinstance(item, LinkClosed):
            self._link_closed(item)

    def take(self) -> list[Finding]:
        """The findings since the last call."""
        found, self.findings = self.findings, []
        return found

    # --- state -----------------------------------------------------------------------------

    def talk(self, session: Session | None) -> Talk:
        if session is None:
            return self._nobody
        talk = self._talks.get(session)
        if talk is None:
            # `_batch` creates one for each session whose beginning is in the capture.
            talk = self._talks[session] = Talk(session, False)
        return talk

    def line(self, link: Link) -> Line:
        line = self._lines.get(link)
        if line is None:
            line = self._lines[link] = Line(link.protocol in DATAGRAMS)
        return line

    # --- judging ---------------------------------------------------------------------------

    def _ask(self, rules: list[Rule], what: Any, seen: Any, talk: Talk, place: Place) -> None:
        if not talk.is_sure:
            return
        is_whole = talk.is_whole and talk.is_met and not talk.is_over
        for rule in rules:
            if rule.needs_whole and not is_whole:
                continue
            text = rule.judge(what, seen)
            if text is not None:
                self._tell(rule, talk.side(place.node), place, text)

    def _ask_of(self, rules: list[Rule], event: MessageSeen, seen: Seen) -> None:
        """The same for a message; its place is created only for a finding."""
        talk, message = seen.talk, event.message
        if not talk.is_sure:
            return
        is_whole = talk.is_whole and talk.is_met and not talk.is_over
        for rule in rules:
            if rule.needs_whole and not is_whole:
                continue
            text = rule.judge(message, seen)
            if text is not None:
                self._tell(rule, seen.sender, place_of(event), text)

    def _tell(self, rule: Rule, side: Side, place: Place, text: str) -> None:
        times = side.broken.get(rule.id, 0) + 1
        # Known deviations are reported once for each side.
        if rule.severity == NOTE and times > 1:
            return
        side.broken[rule.id] = times
        self.counts[rule.id] = self.counts.get(rule.id, 0) + 1
        if times <= RULES_FINDINGS_PER_SIDE_MAX:
            self.findings.append(Finding(rule, place, text))
        else:
            side.last_broken = place

    def _batch(self, batch: LinkBatch) -> None:
        link, session = batch.link, batch.link.session
        line = self.line(link)
        line.is_cut = batch.state != "ok"
        if session is not None and session not in self._talks:
            is_whole = link.protocol in _STREAMS and link.seen_start and _begins(batch)
            self._talks[session] = Talk(session, is_whole)
        talk = self.talk(session)
        if link.is_behind or _is_unsettled(batch, line):
            talk.lose()
        self.ask_of_batch(batch, self._by_subject.get(LinkBatch, _NOTHING))

    def ask_of_batch(self, batch: LinkBatch, rules: list[Rule]) -> None:
        """Applies some rules to a batch, without changing the state."""
        session, line = batch.link.session, self.line(batch.link)
        talk = self.talk(session)
        node = None if session is None else sender_node(batch, session)
        sender, receiver = talk.side(node), talk.side(_other(batch, session))
        odd = _oddities(batch, session, line)
        seen = SeenBatch(batch, talk, line, sender, receiver, odd)
        self._ask(rules, batch, seen, talk, batch_place(batch, node))

    def ask_of_message(self, event: MessageSeen, rules: list[Rule]) -> None:
        """Applies some rules to a message, without changing the state."""
        self._ask_of(rules, event, self.seen(event))

    def seen(self, event: MessageSeen) -> Seen:
        """A message with the state before it."""
        return Seen(event, self.talk(event.session), self.line(event.link), self._asked)

    def see(self, event: MessageSeen, only: list[Rule] | None = None) -> None:
        """Checks one message; `only` are the rules that may be broken, if known."""
        talk, line = self.talk(event.session), self.line(event.link)
        message = event.message
        if event.ignored is not None and isinstance(message, NetworkMessage):
            return  # its carrier was checked
        if event.link.is_behind:
            talk.lose()  # also of a handshake that has just joined another session
        seen = Seen(event, talk, line, self._asked)
        if not seen.sender.has_spoken and isinstance(message, NetworkMessage):
            meet(event, seen.talk)
        if only is not None:
            rules = only
        elif isinstance(message, Declare):
            rules = self._by_declaration[type(message.body)]
        else:
            rules = self._by_subject.get(type(message), _NOTHING)
        if rules:
            self._ask_of(rules, event, seen)
        if isinstance(message, Scout):
            self._scout(event.sender, message)
        elif event.ignored is None or isinstance(message, (Init, Open)):
            # Data may come before an OPEN_ACK, which then changes nothing.
            remember(seen)
        elif isinstance(message, Fragment):
            forget_fragments(message, seen)

    def _scout(self, address: str, message: Scout) -> None:
        self._asked[address] = self._asked.get(address, 0) | message.what.mask
        if len(self._asked) > TRACE_SCOUTS_MAX:
            self._asked.popitem(last=False)

    def _lack(self, event: Missing | Undecoded) -> None:
        """A gap, or bytes that could not be decoded."""
        session = event.link.session
        if session is None:
            return
        talk, line = self.talk(session), self.line(event.link)
        if isinstance(event, Missing):
            is_lost = event.kind in _LOST
            talk.has_gaps = talk.has_gaps or (event.kind == "sn_gap" and line.is_datagrams)
        else:
            is_lost = event.state in ("gap", "truncated")
        if is_lost:
            talk.lose()
            return
        side = event.link.sides[event.direction]
        node = None if session.is_multicast else session.nodes[side]
        place = Place(event.packet, event.time_ns, 0, event.link, session, node)
        rules = self._by_subject.get(type(event), _NOTHING)
        self._ask(rules, event, SeenLack(line, talk), talk, place)

    # --- ends ------------------------------------------------------------------------------

    def _after_batch(self, batch: LinkBatch) -> None:
        line, direction = self.line(batch.link), batch.direction
        session = batch.link.session
        line.said_ns[direction] = max(line.said_ns[direction], batch.time_ns)
        line.batches[direction] += 1
        error = batch.error
        if batch.state == "malformed" and error is not None:
            if error.cause.startswith("unknown extension") and not line.refusable[direction]:
                line.refusable[direction] = f"{error.message}: {error.cause}"
                line.refusable_ns[direction] = batch.time_ns
            self.talk(session).is_whole = False
        if not batch.data and session is not None:
            side = self.talk(session).side(sender_node(batch, session))
            side.gave_up = bool(side.fragments)

    def _session(self, event: SessionChanged) -> None:
        session = event.session
        if session.is_multicast:
            return
        talk = self.talk(session)
        if event.change == "joined" or len(session.links) > 1:
            talk.is_whole = False  # order between links is not known
        elif ends_session(event):
            self._end(talk, event.time_ns, self._closed_by(event.link), False)

    def _closed_by(self, link: Link) -> Node | None:
        line, session = self.line(link), link.session
        if session is None:
            return None
        for direction in (0, 1):
            if line.closed[direction] and not line.closed[1 - direction]:
                return session.nodes[link.sides[direction]]
        return None

    def _end(self, talk: Talk, time_ns: int, closed_by: Node | None, is_cut: bool) -> None:
        if talk.is_over:
            return
        ending = Ending(time_ns, closed_by, is_cut)
        for side in talk.sides.values():
            for request in side.requests.values():
                self._ask_open(OpenRequest, request, ending, talk, _answerer(talk, request.place))
            for interest in side.interests.values():
                node = _answerer(talk, interest.place)
                self._ask_open(OpenInterest, interest, ending, talk, node)
            for waiting in () if side.gave_up else side.fragments.values():
                self._ask_open(OpenFragments, waiting, ending, talk, waiting.place)
        talk.is_over = True

    def _ask_open(self, subject: type, what: Any, ending: Ending, talk: Talk, place: Place) -> None:
        self._ask(self._by_subject.get(subject, _NOTHING), what, ending, talk, place)

    def _link_closed(self, item: LinkClosed) -> None:
        link, session = item.link, item.link.session
        self._lines.pop(link, None)
        if session is None or (session.is_multicast and item.cause != "end"):
            return
        if not all(one.is_closed for one in session.links) and not session.is_multicast:
            return
        talk = self._talks.pop(session, None)
        if talk is not None and not session.is_multicast:
            self._end(talk, item.time_ns, None, item.cause == "end")
        if talk is not None:
            self._tell_rest(talk, item)

    def finish(self) -> None:
        """Findings about links without a session, at the end of the capture."""
        for side in self._nobody.all_sides():
            place = side.last_broken
            if place is not None:
                self._tell_rest_of(side, place)

    def _tell_rest(self, talk: Talk, item: LinkClosed) -> None:
        for side in talk.all_sides():
            if side.broken:
                place = Place(item.packet, item.time_ns, 0, item.link, talk.session, side.node)
                self._tell_rest_of(side, place)

    def _tell_rest_of(self, side: Side, place: Place) -> None:
        """Findings for the violations beyond those that were reported one by one."""
        for id, count in side.broken.items():
            rest = count - RULES_FINDINGS_PER_SIDE_MAX
            if rest > 0:
                text = f"{rest:,} more of these"
                self.findings.append(Finding(RULES[id], place, text, rest))


def _chosen(rules: dict[type, list[Rule]], only: Collection[str]) -> dict[type, list[Rule]]:
    ids = frozenset(only)
    return {subject: [one for one in of if one.id in ids] for subject, of in rules.items()}


def _begins(batch: LinkBatch) -> bool:
    """Whether a batch is the INIT_SYN that begins a session."""
    first = batch.messages[0] if batch.messages else None
    return batch.state == "ok" and isinstance(first, Init) and first.cookie is None


def _is_unsettled(batch: LinkBatch, line: Line) -> bool:
    """Whether a datagram comes without the handshake that determines its format."""
    if batch.link.protocol != "udp" or not batch.messages:
        return False
    if not line.is_ordered:
        return True
    return line.stage < OPENED and not isinstance(batch.messages[0], (Init, Open, Close))


def meet(event: MessageSeen, talk: Talk) -> None:
    """Whether the first messages of a side may belong to an older session (SN-80).

    Routers and peers may connect to each other, and use each link in one direction. The first
    message of both is a link state (wire reference §2.5).
    """
    sender, receiver = event.sender_node, event.receiver_node
    talk.side(sender).has_spoken = True
    if sender is None or receiver is None or "client" in (sender.role, receiver.role):
        return
    talk.is_met = talk.side(receiver).has_spoken
    if event.kind != "OAM/LINKSTATE":
        talk.is_whole = False


def _other(batch: LinkBatch, session: Session | None) -> Node | None:
    if session is None or session.is_multicast:
        return None
    return session.nodes[1 - batch.link.sides[batch.direction]]


def _answerer(talk: Talk, place: Place) -> Place:
    """The place of a request, with the node that has to answer as the sender."""
    for node in talk.sides:
        if node is not place.node:
            return Place(place.packet, place.time_ns, place.seq, place.link, place.session, node)
    return place


def _oddities(batch: LinkBatch, session: Session | None, line: Line) -> list[Oddity]:
    if batch.state != "ok" or not batch.messages:
        return []
    data = batch.data
    if batch.link.protocol == "scouting":
        return oddities(data, batch.messages, "scouting")
    if session is None or not session.seen_start:
        return []
    if session.is_multicast:
        is_packed = data[0] <= 1  # by the header of compression: no message begins so
        return oddities(decompress_batch(data) if is_packed else data, batch.messages, "batch")
    is_open = line.stage == OPENED
    if session.lowlatency and is_open:
        return oddities(data, batch.messages, "low-latency")
    if session.compression and is_open:
        if isinstance(batch.messages[0], Close) and data[:1] in (b"\x03", b"\x23"):
            return []
        try:
            data = decompress_batch(data)
        except WireError:
            return []
    return oddities(data, batch.messages, "batch")
