"""Facts: the state that all rules read.

`LinkFacts` is one link with its handshake, `SideFacts` the state of one node of a session, such as
its declarations, `SessionFacts` a session with both sides. Only `fact_updates` changes them, after
the rules have been applied.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from zenlake.limits import RULES_ENDED_REQUESTS_MAX
from zenlake.rules.finding import Place
from zenlake.rules.noncanonical import Deviation
from zenlake.trace.events import MessageSeen
from zenlake.trace.link import LinkBatch
from zenlake.trace.session import Node, Session
from zenlake.wire import Init, Interest, Join, Open
from zenlake.wire.values.choices import InterestMode

NEVER: Final = -1
OPENED: Final = 4
"""The stage of a link whose handshake is complete."""
DATAGRAMS: Final = ("udp", "multicast", "scouting")
"""Protocols that may lose, repeat and reorder batches."""
_ABOVE: Final = {"client": 0, "peer": 1, "router": 2}


class LinkFacts:
    """One link: its handshake so far, and the last batch of each direction."""

    __slots__ = (
        "batches",
        "close_reason",
        "closed",
        "init_ack",
        "init_syn",
        "is_cut",
        "is_datagrams",
        "is_ordered",
        "join",
        "join_ns",
        "last_batch_ns",
        "open_syn",
        "refusable",
        "refusable_ns",
        "stage",
    )

    def __init__(self, is_datagrams: bool) -> None:
        self.is_datagrams = is_datagrams
        self.is_cut = False
        """Whether the current batch is incomplete."""
        self.is_ordered = True
        """Whether the messages of the handshake came in their order."""
        self.stage = 0
        """How many of INIT_SYN, INIT_ACK, OPEN_SYN, OPEN_ACK were seen in that order."""
        self.init_syn: Init | None = None
        self.init_ack: Init | None = None
        self.open_syn: Open | None = None
        self.last_batch_ns = [NEVER, NEVER]
        """When each direction last sent a batch."""
        self.batches = [0, 0]
        """The number of batches of each direction, without the current one."""
        self.closed = [0, 0]
        """The packet of each direction's CLOSE."""
        self.close_reason = [0, 0]
        self.refusable = ["", ""]
        """The message of each direction, if any, after which the receiver has to end the link."""
        self.refusable_ns = [0, 0]
        self.join: Join | None = None
        self.join_ns = 0


class OpenRequest:
    """A REQUEST that waits for its RESPONSE_FINAL."""

    __slots__ = (
        "any_key",
        "budget",
        "id",
        "is_timed_out",
        "key",
        "place",
        "qos",
        "responses",
        "timeout_ms",
    )

    def __init__(self, event: MessageSeen, place: Place, id: int, qos: int) -> None:
        self.place = place
        self.id = id
        self.key = event.key
        self.qos = qos
        self.any_key = False
        self.budget: int | None = None
        self.timeout_ms: int | None = None
        self.responses = 0
        self.is_timed_out = False
        """Whether an intermediate node has reported a timeout."""


class OpenInterest:
    """An INTEREST that is in force, or waits for its D_FINAL."""

    __slots__ = ("finals", "id", "interest", "key", "place")

    def __init__(self, interest: Interest, key: str | None, place: Place) -> None:
        self.interest = interest
        self.id = interest.id
        self.key = key
        self.place = place
        self.finals = 0

    @property
    def asks_for_current(self) -> bool:
        return self.interest.mode in (InterestMode.CURRENT, InterestMode.CURRENT_FUTURE)


class OpenFragments:
    """A message that waits for its last fragment; `place` is that of the newest fragment."""

    __slots__ = ("place", "priority", "reliable")

    def __init__(self, place: Place, priority: int, reliable: bool) -> None:
        self.place = place
        self.priority = priority
        self.reliable = reliable


class History:
    """The part of a side's state that only requests, interests and link states need."""

    __slots__ = (
        "ended_interests",
        "ended_requests",
        "node_links",
        "psid_of",
        "psids",
        "state_sns",
        "timed_out",
    )

    def __init__(self) -> None:
        self.ended_interests: dict[int, OpenInterest] = {}
        """Finished interests by id; their `place` is where they ended."""
        self.ended_requests: OrderedDict[int, int] = OrderedDict()
        """Requests that got their final response, with the packet of that response."""
        self.timed_out: set[int] = set()
        """The requests of `ended_requests` that timed out."""
        self.psids: dict[int, str] = {0: ""}
        self.psid_of: dict[str, int] = {}
        """The last psid of each node in link states."""
        self.state_sns: dict[int, int] = {}
        self.node_links: dict[str, tuple[str, ...]] = {}
        """The neighbours of each node, all by zid, as this side announces them."""


class SideFacts:
    """The state of one node of a session."""

    __slots__ = (
        "_history",
        "after_fragments",
        "aliases",
        "broken",
        "entities",
        "forgets",
        "fragments",
        "gave_up",
        "has_sent",
        "interests",
        "last_broken",
        "links_held",
        "node",
        "requests",
        "source_sns",
    )

    def __init__(self, node: Node | None) -> None:
        self.node = node
        self._history: History | None = None
        """Created on demand: a capture may have 100,000 sessions of one message."""
        self.aliases: dict[int, str | None] = {}
        self.entities: dict[tuple[str, int], str | None] = {}
        """Keys of the node's declarations, by SUBSCRIBER, QUERYABLE or TOKEN and id."""
        self.interests: dict[int, OpenInterest] = {}
        self.requests: dict[int, OpenRequest] = {}
        self.forgets = False
        """Whether finished requests were removed because of the limit."""
        self.fragments: dict[int, OpenFragments] = {}
        self.after_fragments: dict[int, int] = {}
        """By channel, the sequence number of the last fragment if nothing came after it."""
        self.has_sent = False
        """Whether the node has sent a network message."""
        self.gave_up = False
        """Whether the node sent an empty batch while a message in fragments was incomplete."""
        self.links_held = 0
        self.source_sns: dict[tuple[str, int, int], int] = {}
        self.last_broken: Place | None = None
        """The last violation of each rule beyond the limit of reported ones."""
        self.broken: dict[str, int] = {}
        """How often each rule was broken."""

    @property
    def history(self) -> History:
        history = self._history
        if history is None:
            history = self._history = History()
        return history

    @property
    def role(self) -> str | None:
        return None if self.node is None else self.node.role

    def end_request(self, id: int, packet: int) -> None:
        request = self.requests.pop(id, None)
        history = self.history
        history.ended_requests[id] = packet
        if request is not None and request.is_timed_out:
            history.timed_out.add(id)
        if len(history.ended_requests) > RULES_ENDED_REQUESTS_MAX:
            oldest, _ = history.ended_requests.popitem(last=False)
            history.timed_out.discard(oldest)
            self.forgets = True


class SessionFacts:
    """A session with the state of both sides, or of each member of a multicast group."""

    __slots__ = (
        "_unassigned",
        "has_gaps",
        "have_both_sent",
        "is_over",
        "is_sure",
        "is_whole",
        "joins",
        "session",
        "sides",
    )

    def __init__(self, session: Session | None, is_whole: bool) -> None:
        self.session = session
        self.is_whole = is_whole
        """Whether the capture has all messages so far."""
        self.is_sure = True
        """Whether no gap was found since its first message in the capture."""
        self.has_gaps = False
        """Whether sequence numbers of datagrams are missing: the network may have lost them."""
        self.have_both_sent = True
        """Whether both nodes have sent, which shows that this is their only link."""
        self.is_over = False
        self.sides: dict[Node, SideFacts] = {}
        self.joins: list[Join] = []
        """The first JOIN of each member of a group, up to a limit."""
        self._unassigned: SideFacts | None = None

    @property
    def unassigned(self) -> SideFacts:
        """The state from messages that cannot be assigned to either node."""
        unassigned = self._unassigned
        if unassigned is None:
            unassigned = self._unassigned = SideFacts(None)
        return unassigned

    def all_sides(self) -> list[SideFacts]:
        """The sides that have sent something; the unassigned one first."""
        known = list(self.sides.values())
        return known if self._unassigned is None else [self._unassigned, *known]

    def side(self, node: Node | None) -> SideFacts:
        if node is None:
            return self.unassigned
        side = self.sides.get(node)
        if side is None:
            side = self.sides[node] = SideFacts(node)
        return side

    def note_gap(self) -> None:
        """Note that the capture has a gap."""
        self.is_whole = self.is_sure = False

    @property
    def is_multicast(self) -> bool:
        return self.session is not None and self.session.is_multicast


class Seen:
    """A message, and the state before it."""

    __slots__ = ("event", "facts", "link_facts", "receiver", "roles_asked", "sender")

    def __init__(
        self,
        event: MessageSeen,
        facts: SessionFacts,
        link_facts: LinkFacts,
        roles_asked: OrderedDict[str, int],
    ) -> None:
        self.event = event
        self.facts = facts
        self.link_facts = link_facts
        self.sender = facts.side(event.sender_node)
        self.receiver = facts.side(event.receiver_node)
        self.roles_asked = roles_asked
        """The roles that each sender of SCOUT looks for, by its address."""

    @property
    def qos_agreed(self) -> bool | None:
        session = self.facts.session
        return None if session is None else session.qos

    @property
    def goes_down(self) -> bool:
        """Whether the sender ranks above the receiver: router, peer, client (behaviour §3.1)."""
        sender, receiver = self.sender.role, self.receiver.role
        if sender is None or receiver is None:
            return False
        return _ABOVE[sender] > _ABOVE[receiver]


class SeenBatch:
    """A batch, and the state before it."""

    __slots__ = ("batch", "deviations", "facts", "link_facts", "receiver", "sender")

    def __init__(
        self,
        batch: LinkBatch,
        facts: SessionFacts,
        link_facts: LinkFacts,
        sender: SideFacts,
        receiver: SideFacts,
        deviations: list[Deviation],
    ) -> None:
        self.batch = batch
        self.facts = facts
        self.link_facts = link_facts
        self.sender = sender
        self.receiver = receiver
        self.deviations = deviations
        """Differences from the canonical encoding of the same messages."""

    def deviation(self, kind: str) -> str | None:
        return next((one.text for one in self.deviations if one.kind == kind), None)


class SeenGap:
    """A gap or undecoded bytes, and the state of the session."""

    __slots__ = ("facts", "link_facts")

    def __init__(self, link_facts: LinkFacts, facts: SessionFacts) -> None:
        self.link_facts = link_facts
        self.facts = facts


class Ending:
    """How a session ended: the time, and the node that sent CLOSE, if any."""

    __slots__ = ("closed_by", "time_ns")

    def __init__(self, time_ns: int, closed_by: Node | None) -> None:
        self.time_ns = time_ns
        self.closed_by = closed_by
