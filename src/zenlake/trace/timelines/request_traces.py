"""RequestTraces: finds for each forwarded request the request that a querier sent first.

All requests that are fed have equal content. A node forwards requests of a session in order, so
a request from a node belongs to the oldest open one that the node received. Both the tables
(`lake/derive/steps/traces`) and `zenlake why` use this class.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Final, NamedTuple

from zenlake.errors import LocalError

NEVER: Final = 2**63 - 1
"""Represents the time of an event that does not happen."""

_ASKED_MIN: Final = 16
"""A shorter queue is not searched for ended requests."""


class Request(NamedTuple):
    """A request on one link, and the time until which it was open."""

    seq: int
    time_ns: int
    session: str
    requester_zid: str | None
    responder_zid: str | None
    final_seq: int
    deadline_ns: int

    def is_over(self, now: Request) -> bool:
        return self.final_seq < now.seq or self.deadline_ns < now.time_ns


class _Asked(NamedTuple):
    """A request that may be forwarded, and its position in its queue."""

    number: int
    request: Request
    trace_id: int | None


class _Queue:
    """The requests that a node received in one session, in the order in which it forwards them.

    `_next` has, for each other session, the position of the next request to forward there. Earlier
    requests have ended or were forwarded, and are not searched again.
    """

    __slots__ = ("_asked", "_asked_max", "_count", "_next")

    def __init__(self) -> None:
        self._asked: list[_Asked] = []
        self._asked_max = _ASKED_MIN
        self._count = 0
        self._next: dict[str, int] = {}

    def add(self, request: Request, trace_id: int | None) -> None:
        if len(self._asked) >= self._asked_max:
            self._asked = [asked for asked in self._asked if not asked.request.is_over(request)]
            self._asked_max = max(2 * len(self._asked), _ASKED_MIN)
        self._asked.append(_Asked(self._count, request, trace_id))
        self._count += 1

    def oldest(self, child: Request) -> _Asked | None:
        """The oldest request of another session that may have caused `child`."""
        place = bisect_left(self._asked, (self._next.get(child.session, 0),))
        while place < len(self._asked) and self._asked[place].request.is_over(child):
            place += 1
        oldest = self._asked[place] if place < len(self._asked) else None
        self._next[child.session] = self._count if oldest is None else oldest.number
        return oldest

    def mark_passed_on(self, asked: _Asked, session: str) -> None:
        self._next[session] = asked.number + 1


class RequestTraces:
    """Feed it requests in the order of seq; it keeps those that are open."""

    __slots__ = ("_last_seq", "_queues")

    def __init__(self) -> None:
        self._queues: dict[str | None, dict[str, _Queue]] = {}
        """The queues by receiving node, then by session."""
        self._last_seq = 0

    def add(self, request: Request) -> int | None:
        """The seq of the first request of its trace; None if it is ambiguous."""
        if request.seq < self._last_seq:
            raise LocalError(f"requests out of order: {request.seq} after {self._last_seq}")
        self._last_seq = request.seq
        trace_id = self._trace_id(request)
        of_node = self._queues.setdefault(request.responder_zid, {})
        of_node.setdefault(request.session, _Queue()).add(request, trace_id)
        return trace_id

    def _trace_id(self, request: Request) -> int | None:
        zid = request.requester_zid
        if zid is None or self._candidates(None, request):
            return None
        candidates = self._candidates(zid, request)
        if not candidates:
            return request.seq
        if len(candidates) > 1:
            return None
        queue, asked = candidates[0]
        queue.mark_passed_on(asked, request.session)
        return asked.trace_id

    def _candidates(self, zid: str | None, child: Request) -> list[tuple[_Queue, _Asked]]:
        """The oldest request of each session that may have caused `child`.

        `zid` is None for receivers that are unknown or groups.
        """
        found = []
        for session, queue in self._queues.get(zid, {}).items():
            if session != child.session:
                oldest = queue.oldest(child)
                if oldest is not None:
                    found.append((queue, oldest))
        return found
