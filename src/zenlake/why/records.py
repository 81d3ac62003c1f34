"""Records: the facts that stories are made of, the same whether a capture or a lake was read.

Times are Unix nanoseconds of the capture's clock, nodes are zids, and None is unknown. Payloads
are not kept: a story needs their number, not their bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from zenlake.trace.session_ends import SessionEnd
from zenlake.trace.timelines.request_traces import NEVER

if TYPE_CHECKING:
    from zenlake.why.group_memberships import Membership

_TIMEOUT_MS_MAX: Final = 1e11
"""Three years: a longer one passes in no capture, and might not fit into nanoseconds."""


class Moment(NamedTuple):
    """When, and in which packet; None where no packet says it, as when a session is lost."""

    time_ns: int
    packet: int | None


NEVER_SEEN: Final = Moment(0, None)


@dataclass(slots=True)
class SessionRecord:
    """Two nodes while they were connected."""

    id: str
    opener: str | None
    acceptor: str | None
    start_ns: int
    closed_ns: int | None
    outcome: str
    close_reason: str | None
    protocol: str | None = None
    closer: str | None = None
    """Who sent CLOSE; None where nobody did."""
    close_packet: int | None = None
    is_open: bool = True
    """Whether it ever opened."""
    end: SessionEnd | None = None
    """How it was refused or ended; None for a multicast group."""

    def other(self, zid: str | None) -> str | None:
        return self.acceptor if zid == self.opener else self.opener


@dataclass(slots=True)
class Reply:
    """One RESPONSE."""

    at: Moment
    kind: str
    """PUT, DEL, ERR."""
    key: str | None
    replier: str | None
    stamp: str
    """Text that sorts as timestamps do; empty without one."""
    after_final: bool
    error: str | None = None
    """What an ERR says, its beginning."""

    @property
    def is_timeout(self) -> bool:
        """A hop says that the next node was silent (behaviour reference §4.5)."""
        return self.kind == "ERR" and self.error == "Timeout"


@dataclass(slots=True)
class QueryHop:
    """One REQUEST on one link, and what came back over it."""

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
    """The same for requests that ask the same, on whatever link."""
    replies: list[Reply] = field(default_factory=list)
    more_replies: int = 0
    """That came and are not in the list, which is bounded; so did `more_errors`."""
    more_errors: int = 0
    final: Moment | None = None
    final_seq: int | None = None
    reused: bool = False
    """Whether a later request of the session took the number before the final came."""
    trace_id: int | None = None
    """seq of the REQUEST the whole journey began with."""

    @property
    def deadline_ns(self) -> int:
        if self.timeout_ms is None or self.timeout_ms > _TIMEOUT_MS_MAX:
            return NEVER
        return min(self.at.time_ns + int(self.timeout_ms * 1e6), NEVER)

    @property
    def reply_count(self) -> int:
        """PUT and DEL: an error is no reply."""
        return sum(reply.kind != "ERR" for reply in self.replies) + self.more_replies

    @property
    def error_count(self) -> int:
        """Those of queryables: that a timer fired says a node on the way."""
        errors = sum(reply.kind == "ERR" and not reply.is_timeout for reply in self.replies)
        return errors + self.more_errors

    @property
    def is_answered(self) -> bool:
        """Whether replies came and the final response, by itself and not by a timer."""
        by_timer = any(reply.is_timeout for reply in self.replies)
        return self.final is not None and self.reply_count > 0 and not by_timer

    @property
    def took_ns(self) -> int:
        """From the request to the final response; 0 without one."""
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
    """undeclare, session, or router: the one it came from is gone."""
    complete: bool | None
    interest_id: int | None
    node_id: int | None = None
    """Between routers, the one it comes from, in the count of the sender; 0 is the sender."""
    is_answer: bool = False
    """Whether it answers a liveliness get: there at that moment, and no promise."""

    @property
    def declared_ns(self) -> int:
        """0 where it was declared before the capture."""
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
class Interest:
    """Which declarations one node asked another for."""

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
    """Of its payload, to find it again on another link."""


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
    """Of them, those a receiver does not take: their sequence number is old."""
    first: Moment = NEVER_SEEN
    last: Moment = NEVER_SEEN
    samples: list[Sample] = field(default_factory=list)
    """The first ones, as many as are kept."""


@dataclass(slots=True)
class Loss:
    """Something that was sent and is not there."""

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
    """All that one capture shows, or the part of it that was asked for."""

    capture: str
    packets: int = 0
    first_ns: int = 0
    last_ns: int = 0
    sessions: dict[str, SessionRecord] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    last_sent: dict[tuple[str, str], Moment] = field(default_factory=dict)
    """By session and node, the last message of any kind that it sent."""
    queries: list[QueryHop] = field(default_factory=list)
    declarations: list[Declaration] = field(default_factory=list)
    interests: list[Interest] = field(default_factory=list)
    flows: dict[tuple[str, str | None, str], Flow] = field(default_factory=dict)
    """By session, sender and key."""
    losses: list[Loss] = field(default_factory=list)
    memberships: list[Membership] = field(default_factory=list)
    """Of members in multicast groups, in the order of their JOINs."""
    undecoded: dict[str, int] = field(default_factory=dict)
    """Bytes that gave no message, by state."""
    damage: str | None = None
    left_out: dict[str, int] = field(default_factory=dict)
    """What did not fit into the limits, by what it is."""
