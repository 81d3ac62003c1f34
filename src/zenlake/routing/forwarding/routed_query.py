"""A query that this node forwards: its source, and the faces it was sent to.

There may be 100,000 at a time. Python's garbage collector visits every object that may be part of a
cycle, and stops all threads meanwhile. So it does not track queries and their branches, and a query
has no dictionary of its branches. The query drops its references when the last branch has ended.
"""

from __future__ import annotations

from zenlake._mypyc import mypyc_attr
from zenlake.routing.face import Face
from zenlake.routing.timers import Deadline
from zenlake.wire.values.qos import QoS


@mypyc_attr(acyclic=True)
class RoutedQuery:
    """A REQUEST of one face until its RESPONSE_FINAL."""

    __slots__ = ("_last", "budget", "face", "key", "open_branches", "qos", "request_id", "size")

    def __init__(self, face: Face, request_id: int, qos: QoS | None, budget: int | None) -> None:
        self.face = face
        self.request_id = request_id
        self.key = ""
        self.qos = qos
        self.budget = budget or 0
        """How many more responses its requester accepts; 0 if it set no limit."""

        self.open_branches = 0
        """The faces it was sent to that have not finished."""

        self._last: Branch | None = None
        """The branch that was added last; each refers to the one before."""

        self.size = 0
        """The bytes charged to the face for it."""

    def add(self, branch: Branch) -> None:
        branch.before = self._last
        self._last = branch
        self.open_branches += 1

    def branches(self) -> list[Branch]:
        """The branches that have not ended, in the order in which they were added.

        The number of one that has ended may belong to another query by now.
        """
        found = []
        branch = self._last
        while branch is not None:
            if not branch.is_ended:
                found.append(branch)
            branch = branch.before
        found.reverse()
        return found

    def note_ended(self) -> bool:
        """End one of its branches; returns whether it was the last."""
        self.open_branches -= 1
        if self.open_branches == 0:
            self.drop_branches()
        return self.open_branches == 0

    def drop_branches(self) -> None:
        """Break the cycle: branches refer to their query."""
        self._last = None


@mypyc_attr(acyclic=True)
class Branch(Deadline):
    """The same query on one of the faces it was sent to."""

    __slots__ = ("before", "face", "query", "request_id")

    def __init__(self, query: RoutedQuery, face: Face, request_id: int, deadline: float) -> None:
        super().__init__(deadline)
        self.query = query
        self.face = face
        self.request_id = request_id
        self.before: Branch | None = None
        """The branch of the same query that was added before."""
