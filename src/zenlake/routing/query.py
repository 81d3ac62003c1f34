"""A query on its way through this node: where it came from, and whom it was sent to."""

from __future__ import annotations

from zenlake.routing.face import Face
from zenlake.routing.timers import Timer
from zenlake.wire.values.qos import QoS


class Query:
    """A REQUEST of one face until its RESPONSE_FINAL."""

    __slots__ = ("branches", "face", "qos", "request_id", "size")

    def __init__(self, face: Face, request_id: int, qos: QoS | None) -> None:
        self.face = face
        self.request_id = request_id
        self.qos = qos
        self.branches = 0
        """How many of the faces it was sent to have not finished."""

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
