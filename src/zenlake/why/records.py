"""Records: the facts from which stories are made, the same from a capture and from a lake.

Times are Unix nanoseconds of the capture's clock, nodes are zids, None is unknown. Payloads are
not kept, only digests.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from zenlake.trace.session_ends import SessionEnd
from zenlake.trace.timelines.request_traces import NEVER

if TYPE_CHECKING:
    from zenlake.why.group_memberships import Membership

_TIMEOUT_MS_MAX: Final = 1e11
"""Three years. A longer timeout never expires in a capture and may overflow as nanoseconds."""
BY_SEQ: Final = attrgetter("seq", "session")
"""Sort key: the order of the capture."""


class Moment(NamedTuple):
    """A time and a packet; events such as a lost session have no packet."""

    time_ns: int
    packet: int | None


NEVER_SEEN: Final = Moment(0, None)


@dataclass(slots=True)
class SessionRecord:
    """A session of two nodes, or a multicast group."""

    id: str
    opener: str | None
    acceptor: str | None
    start_ns: int
    closed_ns: int | None
    outcome: str
    close_reason: str | None
    protocol: str | None = None
    closer: str | None = None
    """The sender of CLOSE, if any."""
    close_packet: int | None = None
    is_open: bool = True
    """Whether its handshake was completed."""
    end: SessionEnd | None = None
    """How it was refused or ended; None for a multicast group."""

    def other(self, zid: str | None) -> str | None:
        return self.acceptor if zid == self.opener else self.opener


@dataclass(slots=True)
class ReplyRecord:
    """One RESPONSE."""

    at: Moment
    kind: str
    """PUT, DEL, ERR."""
    key: str | None
    replier: str | None
    stamp: str
    """A text that sorts in the order of timestamps; empty without a timestamp."""
    after_final: bool
    error: str | None = None
    """The beginning of the text of an ERR."""

    @property
    def is_timeout(self) -> bool:
        """Whether a node reports that the next one timed out (behaviour reference §4.5)."""
        return self.kind == "ERR" and self.error == "Timeout"


@dataclass(slots=True)
class QueryHop:
    """One REQUEST on one link, with its replies."""

    session: str
    seq: int
    at: Moment
    requester: str | None
    responder: str | None
    request_id: int
    key: str | None
    parameters: str
    target: str
    consolidation: str
    timeout_ms: float | None
    question: str = ""
    """Digest of the content: equal for the same query on different links."""
    replies: list[ReplyRecord] = field(default_factory=list)
    more_replies: int = 0
    """The number of replies beyond the bounded list; `more_errors` counts errors."""
    more_errors: int = 0
    final: Moment | None = None
    final_seq: int | None = None
    reused: bool = False
    """Whether a later request of the session reused the request id before the final response."""
    trace_id: int | None = None
    """seq of the first REQUEST of the query, on its first link."""

    @property
    def deadline_ns(self) -> int:
        if self.timeout_ms is None or self.timeout_ms > _TIMEOUT_MS_MAX:
            return NEVER
        return min(self.at.time_ns + int(self.timeout_ms * 1e6), NEVER)

    @property
    def reply_count(self) -> int:
        """The number of PUT and DEL replies, without errors."""
        return sum(reply.kind != "ERR" for reply in self.replies) + self.more_replies

    @property
    def error_count(self) -> int:
        """The number of errors from queryables, without timeouts of intermediate nodes."""
        errors = sum(reply.kind == "ERR" and not reply.is_timeout for reply in self.replies)
        return errors + self.more_errors

    @property
    def is_answered(self) -> bool:
        """Whether replies and a final response arrived, and no intermediate node timed out."""
        by_timer = any(reply.is_timeout for reply in self.replies)
        return self.final is not None and self.reply_count > 0 and not by_timer

    @property
    def took_ns(self) -> int:
        """The time from the request to the final response; 0 without a final."""
        return 0 if self.final is None else self.final.time_ns - self.at.time_ns

    @property
    def selector(self) -> str:
        key = "(key not known)" if self.key is None else self.key
        return f"{key}?{self.parameters}" if self.parameters else key


@dataclass(slots=True)
class Declaration:
    """A subscriber, queryable or token that one node announced to another, until its end."""

    session: str
    seq: int
    entity: str
    key: str | None
    sender: str | None
    receiver: str | None
    id: int
    declared: Moment | None
    ended: Moment | None
    ended_by: str | None
    """undeclare, session, or router (the router that it came from disappeared)."""
    complete: bool | None
    interest_id: int | None
    node_id: int | None = None
    """Between routers, the sender's number of the router it comes from; 0 is the sender."""
    is_answer: bool = False
    """Whether it answers a liveliness get: valid for that moment only."""

    @property
    def declared_ns(self) -> int:
        """The time of the declaration; 0 if that was before the capture."""
        return 0 if self.declared is None else self.declared.time_ns

    @property
    def ended_ns(self) -> int | None:
        return None if self.ended is None else self.ended.time_ns

    def end_with_router(self, time_ns: int) -> None:
        self.ended, self.ended_by = Moment(time_ns, None), "router"

    def is_alive(self, time_ns: int) -> bool:
        if self.declared is not None and self.declared.time_ns > time_ns:
            return False
        return self.ended is None or self.ended.time_ns >= time_ns


@dataclass(slots=True)
class InterestRecord:
    """An INTEREST: the declarations that one node asked another for."""

    session: str
    seq: int
    at: Moment
    sender: str | None
    receiver: str | None
    id: int
    mode: str
    options: str
    key: str | None
    final_ns: int | None
    closed_ns: int | None


class Sample(NamedTuple):
    """One publication on a link."""

    at: Moment
    digest: str | None
    """Digest of the payload, to recognize the publication on another link.

    Empty for a deletion; None if the payload is in shared memory.
    """


@dataclass(slots=True)
class Flow:
    """All publications of one key that one node sent another in a session."""

    session: str
    sender: str | None
    receiver: str | None
    key: str
    congestion: str
    reliability: str
    priority: int
    count: int = 0
    ignored: int = 0
    """Publications that the receiver ignores because of an old sequence number."""
    first: Moment = NEVER_SEEN
    last: Moment = NEVER_SEEN
    samples: list[Sample] = field(default_factory=list)
    """The first publications, up to a limit."""


@dataclass(slots=True)
class Loss:
    """Frames, fragments or bytes that are missing."""

    session: str | None
    at: Moment
    kind: str
    sender: str | None
    receiver: str | None
    priority: int | None
    reliability: str | None
    count: int | None
    bytes: int | None


@dataclass(slots=True)
class Evidence:
    """All records of one capture, or those in the scope."""

    capture: str
    packets: int = 0
    first_ns: int = 0
    last_ns: int = 0
    sessions: dict[str, SessionRecord] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    last_sent: dict[tuple[str, str], Moment] = field(default_factory=dict)
    """The last message of any kind, by session and node."""
    queries: list[QueryHop] = field(default_factory=list)
    declarations: list[Declaration] = field(default_factory=list)
    interests: list[InterestRecord] = field(default_factory=list)
    flows: dict[tuple[str, str | None, str], Flow] = field(default_factory=dict)
    """Publications by session, sender and key."""
    losses: list[Loss] = field(default_factory=list)
    memberships: list[Membership] = field(default_factory=list)
    """Members of multicast groups, in the order of their JOINs."""
    undecoded: dict[str, int] = field(default_factory=dict)
    """Bytes that were not decoded, by state."""
    damage: str | None = None
    left_out: dict[str, int] = field(default_factory=dict)
    """Number of records beyond the limits, by their kind."""
