"""Hops: requests that all ask the same, walked in order, each led back to where it began."""

from __future__ import annotations

from bisect import bisect_left
from typing import Final, NamedTuple

from zenlake.errors import LocalError

NEVER: Final = 2**63 - 1
"""Stands for the time of what never comes."""

_ASKED_MIN: Final = 16
"""So many are kept before those that are over are looked for."""


class Request(NamedTuple):
    """Who asked whom, and until when the question was open."""

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
    """A request that may be passed on, and its number in the order of its session."""

    number: int
    request: Request
    trace_id: int | None


class _Queue:
    """What one session brought one node, the oldest first; it is passed on in that order.

    `_next` says for each session how far requests were passed on into it. Those before are
    over or taken, and are not looked at again.
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
        """The oldest that may have led to a request in another session."""
        place = bisect_left(self._asked, (self._next.get(child.session, 0),))
        while place < len(self._asked) and self._asked[place].request.is_over(child):
            place += 1
        oldest = self._asked[place] if place < len(self._asked) else None
        self._next[child.session] = self._count if oldest is None else oldest.number
        return oldest

    def mark_passed_on(self, asked: _Asked, session: str) -> None:
        self._next[session] = asked.number + 1


class RequestTraces:
    """Feed it requests by seq; it remembers those that are not over."""

    __slots__ = ("_last_seq", "_queues")

    def __init__(self) -> None:
        self._queues: dict[str | None, dict[str, _Queue]] = {}
        """By the node that was asked, then by session."""
        self._last_seq = 0

    def add(self, request: Request) -> int | None:
        """The trace it belongs to; None if that cannot be known."""
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
        """The oldest of each session that may have led to a request.

        With None, of those sessions whose other end is not known, or is a group.
        """
        found = []
        for session, queue in self._queues.get(zid, {}).items():
            if session != child.session:
                oldest = queue.oldest(child)
                if oldest is not None:
                    found.append((queue, oldest))
        return found
