"""Checker: feed it the items of links and their events; it collects violations of the rules.

Rules that depend on earlier messages are applied only while a session is complete: from its INIT
on, without a gap, on one stream. After a gap the session is not checked any more, because the
batch boundaries that are found afterwards may be wrong.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection
from typing import Any, Final

from zenlake.limits import RULES_FINDINGS_PER_SIDE_MAX, TRACE_SCOUTS_MAX
from zenlake.rules.batch_deviations import batch_deviations
from zenlake.rules.fact_updates import forget_fragments, update_facts
from zenlake.rules.facts import (
    DATAGRAMS,
    OPENED,
    Ending,
    LinkFacts,
    OpenFragments,
    OpenInterest,
    OpenRequest,
    Seen,
    SeenBatch,
    SeenGap,
    SessionFacts,
    SideFacts,
)
from zenlake.rules.finding import Finding, Place, batch_place, place_of
from zenlake.rules.registry import BY_DECLARATION, BY_SUBJECT, RULES
from zenlake.rules.rule import NOTE, Rule
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
from zenlake.wire.message import NetworkMessage

_STREAMS: Final = ("tcp", "ws")
"""Protocols whose captures are complete or show their gaps."""
_LOST: Final = ("tcp_gap", "truncated", "resync")
_NO_RULES: Final[list[Rule]] = []


class Checker:
    """Adds violations to `findings`; the caller removes them with `pop_findings`."""

    __slots__ = (
        "_by_declaration",
        "_by_subject",
        "_is_redacted",
        "_link_facts",
        "_roles_asked",
        "_session_facts",
        "_unassigned",
        "counts",
        "findings",
    )

    def __init__(
        self, only: Collection[str] | None = None, is_redacted: Callable[[], bool] | None = None
    ) -> None:
        """Applies all rules, or `only` some. `is_redacted` says whether the capture lacks messages
        that a recorder has removed."""
        self._is_redacted = is_redacted
        self.findings: list[Finding] = []
        self.counts: dict[str, int] = {}
        """How often each rule was broken: the sum of `times` of all its findings.

        A note counts once for each side of a session, as it is reported.
        """
        self._by_subject = BY_SUBJECT if only is None else _only(BY_SUBJECT, only)
        self._by_declaration = BY_DECLARATION if only is None else _only(BY_DECLARATION, only)
        self._session_facts: dict[Session, SessionFacts] = {}
        self._link_facts: dict[Link, LinkFacts] = {}
        self._unassigned = SessionFacts(None, False)
        self._roles_asked: OrderedDict[str, int] = OrderedDict()

    def feed(self, item: LinkItem, events: list[TraceEvent]) -> None:
        if isinstance(item, LinkBatch):
            self._batch(item)
        for event in events:
            if isinstance(event, MessageSeen):
                self.check_message(event)
            elif isinstance(event, (Missing, Undecoded)):
                self._gap(event)
            elif isinstance(event, SessionChanged):
                self._session(event)
        if isinstance(item, LinkBatch):
            self._after_batch(item)
        elif isinstance(item, LinkClosed):
            self._link_closed(item)

    def pop_findings(self) -> list[Finding]:
        """The findings since the last call."""
        found, self.findings = self.findings, []
        return found

    # --- state -----------------------------------------------------------------------------

    def facts(self, session: Session | None) -> SessionFacts:
        if session is None:
            return self._unassigned
        facts = self._session_facts.get(session)
        if facts is None:
            # `_batch` creates one for each session whose beginning is in the capture.
            facts = self._session_facts[session] = SessionFacts(session, False)
        return facts

    def link_facts(self, link: Link) -> LinkFacts:
        link_facts = self._link_facts.get(link)
        if link_facts is None:
            link_facts = self._link_facts[link] = LinkFacts(link.protocol in DATAGRAMS)
        return link_facts

    # --- applying rules --------------------------------------------------------------------

    def _apply(
        self, rules: list[Rule], what: Any, seen: Any, facts: SessionFacts, place: Place
    ) -> None:
        if not facts.is_sure:
            return
        is_whole = facts.is_whole and facts.have_both_sent and not facts.is_over
        for rule in rules:
            if rule.needs_whole and not is_whole:
                continue
            text = rule.check(what, seen)
            if text is not None:
                self._report(rule, facts.side(place.node), place, text)

    def _apply_to_message(self, rules: list[Rule], event: MessageSeen, seen: Seen) -> None:
        """Apply the rules to a message. A `Place` is created only for a finding."""
        facts, message = seen.facts, event.message
        if not facts.is_sure:
            return
        is_whole = facts.is_whole and facts.have_both_sent and not facts.is_over
        for rule in rules:
            if rule.needs_whole and not is_whole:
                continue
            text = rule.check(message, seen)
            if text is not None:
                self._report(rule, seen.sender, place_of(event), text)

    def _report(self, rule: Rule, side: SideFacts, place: Place, text: str) -> None:
        if place.packet <= 0:
            return  # the state of a recording repeats messages that may have been checked already
        if rule.needs_unredacted and self._is_redacted is not None and self._is_redacted():
            return
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
        link_facts = self.link_facts(link)
        link_facts.is_cut = batch.state != "ok"
        if session is not None and session not in self._session_facts:
            is_whole = link.protocol in _STREAMS and link.seen_start and _begins(batch)
            # The state of a recording has only what is open, not all earlier messages.
            self._session_facts[session] = SessionFacts(session, is_whole and batch.packet > 0)
        facts = self.facts(session)
        if link.is_behind or _is_unsettled(batch, link_facts):
            facts.note_gap()
        self.apply_to_batch(batch, self._by_subject.get(LinkBatch, _NO_RULES))

    def apply_to_batch(self, batch: LinkBatch, rules: list[Rule]) -> None:
        """Applies some rules to a batch, without changing the state."""
        session, link_facts = batch.link.session, self.link_facts(batch.link)
        facts = self.facts(session)
        node = None if session is None else sender_node(batch, session)
        sender, receiver = facts.side(node), facts.side(_receiver(batch, session))
        deviation = batch_deviations(batch, session, link_facts.stage == OPENED)
        seen = SeenBatch(batch, facts, link_facts, sender, receiver, deviation)
        self._apply(rules, batch, seen, facts, batch_place(batch, node))

    def apply_to_message(self, event: MessageSeen, rules: list[Rule]) -> None:
        """Applies some rules to a message, without changing the state."""
        self._apply_to_message(rules, event, self.seen(event))

    def seen(self, event: MessageSeen) -> Seen:
        """A message with the state before it."""
        return Seen(
            event, self.facts(event.session), self.link_facts(event.link), self._roles_asked
        )

    def check_message(self, event: MessageSeen, only: list[Rule] | None = None) -> None:
        """Checks one message; `only` are the rules that may be broken, if known."""
        facts, link_facts = self.facts(event.session), self.link_facts(event.link)
        message = event.message
        if event.ignored is not None and isinstance(message, NetworkMessage):
            return  # the frame that carries it was checked
        if event.link.is_behind:
            facts.note_gap()  # also if a handshake has just joined another session
        seen = Seen(event, facts, link_facts, self._roles_asked)
        if not seen.sender.has_sent and isinstance(message, NetworkMessage):
            note_first_message(event, seen.facts)
        if only is not None:
            rules = only
        elif isinstance(message, Declare):
            rules = self._by_declaration[type(message.body)]
        else:
            rules = self._by_subject.get(type(message), _NO_RULES)
        if rules:
            self._apply_to_message(rules, event, seen)
        if isinstance(message, Scout):
            self._scout(event.sender, message)
        elif event.ignored is None or isinstance(message, (Init, Open)):
            # Data may come before an OPEN_ACK, which then changes nothing.
            update_facts(seen)
        elif isinstance(message, Fragment):
            forget_fragments(message, seen)

    def _scout(self, address: str, message: Scout) -> None:
        self._roles_asked[address] = self._roles_asked.get(address, 0) | message.what.mask
        if len(self._roles_asked) > TRACE_SCOUTS_MAX:
            self._roles_asked.popitem(last=False)

    def _gap(self, event: Missing | Undecoded) -> None:
        """Handle a gap, or bytes that could not be decoded."""
        session = event.link.session
        if session is None:
            return
        facts, link_facts = self.facts(session), self.link_facts(event.link)
        if isinstance(event, Missing):
            is_lost = event.kind in _LOST
            facts.has_gaps = facts.has_gaps or (event.kind == "sn_gap" and link_facts.is_datagrams)
        else:
            is_lost = event.state in ("gap", "truncated")
        if is_lost:
            facts.note_gap()
            return
        side = event.link.sides[event.direction]
        node = None if session.is_multicast else session.nodes[side]
        place = Place(event.packet, event.time_ns, 0, event.link, session, node)
        rules = self._by_subject.get(type(event), _NO_RULES)
        self._apply(rules, event, SeenGap(link_facts, facts), facts, place)

    # --- ends ------------------------------------------------------------------------------

    def _after_batch(self, batch: LinkBatch) -> None:
        link_facts, direction = self.link_facts(batch.link), batch.direction
        session = batch.link.session
        if batch.packet > 0:
            last_ns = link_facts.last_batch_ns[direction]
            link_facts.last_batch_ns[direction] = max(last_ns, batch.time_ns)
        link_facts.batches[direction] += 1
        error = batch.error
        if batch.state == "malformed" and error is not None:
            if error.cause.startswith("unknown extension") and not link_facts.refusable[direction]:
                link_facts.refusable[direction] = f"{error.message}: {error.cause}"
                link_facts.refusable_ns[direction] = batch.time_ns
            self.facts(session).is_whole = False
        if not batch.data and session is not None:
            side = self.facts(session).side(sender_node(batch, session))
            side.gave_up = bool(side.fragments)

    def _session(self, event: SessionChanged) -> None:
        session = event.session
        if session.is_multicast:
            return
        facts = self.facts(session)
        if event.change == "joined" or len(session.links) > 1:
            facts.is_whole = False  # the order between links is unknown
        elif ends_session(event):
            self._end(facts, event.time_ns, self._closed_by(event.link))

    def _closed_by(self, link: Link) -> Node | None:
        link_facts, session = self.link_facts(link), link.session
        if session is None:
            return None
        for direction in (0, 1):
            if link_facts.closed[direction] and not link_facts.closed[1 - direction]:
                return session.nodes[link.sides[direction]]
        return None

    def _end(self, facts: SessionFacts, time_ns: int, closed_by: Node | None) -> None:
        if facts.is_over:
            return
        ending = Ending(time_ns, closed_by)
        for side in facts.sides.values():
            for request in side.requests.values():
                node = _answerer(facts, request.place)
                self._apply_to_open(OpenRequest, request, ending, facts, node)
            for interest in side.interests.values():
                node = _answerer(facts, interest.place)
                self._apply_to_open(OpenInterest, interest, ending, facts, node)
            for waiting in () if side.gave_up else side.fragments.values():
                self._apply_to_open(OpenFragments, waiting, ending, facts, waiting.place)
        facts.is_over = True

    def _apply_to_open(
        self, subject: type, what: Any, ending: Ending, facts: SessionFacts, place: Place
    ) -> None:
        self._apply(self._by_subject.get(subject, _NO_RULES), what, ending, facts, place)

    def _link_closed(self, item: LinkClosed) -> None:
        link, session = item.link, item.link.session
        self._link_facts.pop(link, None)
        if session is None or (session.is_multicast and item.cause != "end"):
            return
        if not all(one.is_closed for one in session.links) and not session.is_multicast:
            return
        facts = self._session_facts.pop(session, None)
        if facts is not None and not session.is_multicast:
            self._end(facts, item.time_ns, None)
        if facts is not None:
            self._report_rest(facts, item)

    def finish(self) -> None:
        """Findings about links without a session, at the end of the capture."""
        for side in self._unassigned.all_sides():
            place = side.last_broken
            if place is not None:
                self._report_rest_of(side, place)

    def _report_rest(self, facts: SessionFacts, item: LinkClosed) -> None:
        for side in facts.all_sides():
            if side.broken:
                place = Place(item.packet, item.time_ns, 0, item.link, facts.session, side.node)
                self._report_rest_of(side, place)

    def _report_rest_of(self, side: SideFacts, place: Place) -> None:
        """Findings for the violations beyond those that were reported one by one."""
        for id, count in side.broken.items():
            rest = count - RULES_FINDINGS_PER_SIDE_MAX
            if rest > 0:
                text = f"{rest:,} more of these"
                self.findings.append(Finding(RULES[id], place, text, rest))


def _only(rules: dict[type, list[Rule]], only: Collection[str]) -> dict[type, list[Rule]]:
    ids = frozenset(only)
    return {subject: [one for one in of if one.id in ids] for subject, of in rules.items()}


def _begins(batch: LinkBatch) -> bool:
    """Whether a batch is the INIT_SYN that begins a session."""
    first = batch.messages[0] if batch.messages else None
    return batch.state == "ok" and isinstance(first, Init) and first.cookie is None


def _is_unsettled(batch: LinkBatch, link_facts: LinkFacts) -> bool:
    """Whether a datagram comes without the handshake that determines its format."""
    if batch.link.protocol != "udp" or not batch.messages:
        return False
    if not link_facts.is_ordered:
        return True
    return link_facts.stage < OPENED and not isinstance(batch.messages[0], (Init, Open, Close))


def note_first_message(event: MessageSeen, facts: SessionFacts) -> None:
    """Note whether the first messages of a side may belong to an older session (SN-80).

    Routers and peers may connect to each other, and use each link in one direction. The first
    message of both is a link state (wire reference §2.5).
    """
    sender, receiver = event.sender_node, event.receiver_node
    facts.side(sender).has_sent = True
    if sender is None or receiver is None or "client" in (sender.role, receiver.role):
        return
    facts.have_both_sent = facts.side(receiver).has_sent
    if event.kind != "OAM/LINKSTATE":
        facts.is_whole = False


def _receiver(batch: LinkBatch, session: Session | None) -> Node | None:
    if session is None or session.is_multicast:
        return None
    return session.nodes[1 - batch.link.sides[batch.direction]]


def _answerer(facts: SessionFacts, place: Place) -> Place:
    """The place of a request, with the node that has to answer in place of the sender."""
    for node in facts.sides:
        if node is not place.node:
            return Place(place.packet, place.time_ns, place.seq, place.link, place.session, node)
    return place
