"""A query on its way through this node: where it came from, and whom it was sent to."""

from __future__ import annotations

from zenlake.routing.face import Face
from zenlake.routing.timers import Timer
from zenlake.wire.values.qos import QoS


class Query:
    """A REQUEST of one face until its RESPONSE_FINAL."""

    __slots__ = ("branches", "budget", "face", "key", "qos", "request_id", "size")

    def __init__(self, face: Face, request_id: int, qos: QoS | None, budget: int | None) -> None:
        self.face = face
        self.request_id = request_id
        self.key = ""
        self.qos = qos
        self.budget = budget or 0
        """How many more responses its requester accepts; 0 if it set no limit."""

        self.branches: dict[Branch, None] = {}
        """The faces it was sent to that have not finished."""

        self.size = 0
        """The bytes charged to the face for it."""


class Branch(Timer):
    """The same query on one of the faces it was sent to."""

    __slots__ = ("face", "query", "request_id")

    def __init__(self, query: Query, face: Face, request_id: int, deadline: float) -> None:
        super().__init__(deadline)
        self.query = query
        self.face = face
        self.request_id = request_id
