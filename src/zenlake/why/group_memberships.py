"""Group memberships: when each node was a member of a multicast group.

There is no handshake: a node is a member from its JOIN to its CLOSE, or until it is silent for
its lease (wire reference §8). Both readers feed the same messages, so their results are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from zenlake.limits import WHY_RECORDS_MAX
from zenlake.why.records import Moment
from zenlake.wire.defaults import DEFAULT_GROUP_BATCH_BYTES, PROTOCOL_VERSION
from zenlake.wire.values.lease import lease_in_ms
from zenlake.wire.values.resolution import DEFAULT_RESOLUTION

SILENCE_NS_MIN: Final = 100_000_000
"""A shorter silence is ignored, whatever the lease."""
_RESOLUTION_DEFAULT: Final = str(DEFAULT_RESOLUTION)


class JoinTerms(NamedTuple):
    """The content of a JOIN: the node, its lease, and the terms that all members must share."""

    zid: str | None
    role: str | None
    lease_ms: int
    version: int
    resolution: str
    batch_size: int

    @property
    def common(self) -> tuple[int, str, int]:
        """The terms that all members must share."""
        return self.version, self.resolution, self.batch_size

    @classmethod
    def from_detail(cls, detail: dict[str, Any]) -> JoinTerms:
        """The terms in the `messages.detail` of a JOIN."""
        lease = int(detail.get("lease", 0))
        resolution = detail.get("resolution")
        return cls(
            detail.get("zid"),
            detail.get("whatami"),
            lease_in_ms(lease, bool(detail.get("seconds"))),
            int(detail.get("version", PROTOCOL_VERSION)),
            _RESOLUTION_DEFAULT if resolution is None else str(resolution),
            int(detail.get("batch_size", DEFAULT_GROUP_BATCH_BYTES)),
        )


@dataclass(slots=True)
class Membership:
    """One node in a group, from its JOIN on."""

    session: str
    terms: JoinTerms
    joined: Moment
    last_sent: Moment
    ended: Moment | None = None
    """The CLOSE, or the end of its lease."""
    is_silent: bool = False
    """Whether its lease expired."""
    reason: str | None = None
    """The reason of the CLOSE."""

    @property
    def zid(self) -> str | None:
        return self.terms.zid

    def expire(self, time_ns: int) -> None:
        """Ends the membership if the node was silent for longer than its lease."""
        lease_ns = self.terms.lease_ms * 1_000_000
        silence_ns = time_ns - self.last_sent.time_ns
        if self.ended is None and lease_ns and silence_ns > max(lease_ns, SILENCE_NS_MIN):
            self.ended, self.is_silent = Moment(self.last_sent.time_ns + lease_ns, None), True

    def overlaps(self, other: Membership) -> bool:
        return not (self._is_before(other) or other._is_before(self))

    def _is_before(self, other: Membership) -> bool:
        return self.ended is not None and self.ended.time_ns < other.joined.time_ns


class MembershipTracker:
    """Feed it the messages of members in order.

    Messages may be left out if `received_before` is called with the last of them.
    """

    def __init__(self) -> None:
        self.memberships: list[Membership] = []
        self._current: dict[tuple[str, str], Membership] = {}
        """Current ones by group and link: a sender has one address (wire reference §8)."""

    def feed(
        self, session: str, link: str, at: Moment, kind: str, detail: dict[str, Any] | None
    ) -> None:
        membership = self._current.get((session, link))
        if membership is not None:
            membership.expire(at.time_ns)
        if kind == "JOIN":
            terms = JoinTerms.from_detail(detail or {})
            if membership is None or membership.ended is not None or membership.zid != terms.zid:
                if len(self.memberships) >= WHY_RECORDS_MAX:
                    return
                membership = self._current[session, link] = Membership(session, terms, at, at)
                self.memberships.append(membership)
        if membership is None or membership.ended is not None:
            return  # members ignore messages of a node without a JOIN
        membership.last_sent = at
        if kind == "CLOSE":
            membership.ended = at
            membership.reason = str((detail or {}).get("reason", 0))

    def received_before(self, session: str, link: str, at: Moment) -> None:
        """A message of any kind was received at that time."""
        membership = self._current.get((session, link))
        if membership is not None and membership.ended is None:
            membership.last_sent = at

    def finish(self, last_ns: int) -> list[Membership]:
        for membership in self.memberships:
            membership.expire(last_ns)
        return self.memberships
