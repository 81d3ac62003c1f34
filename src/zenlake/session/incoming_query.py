"""A query that reached this session, from the network or from itself.

Every matching queryable gets a Query object of its own; they share one of these. The final
goes out when the last of them is dropped (behaviour reference §2.6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.semantics.query_parameters import accepts_any_key
from zenlake.wire import QoS, TimestampStack
from zenlake.wire import Query as QueryMessage

if TYPE_CHECKING:
    from zenlake.session.open_query import OpenQuery


class IncomingQuery:
    """A query, and how many Query objects may still answer it."""

    __slots__ = (
        "accepts_any_key",
        "body",
        "holders",
        "key",
        "origin",
        "parameters",
        "qos",
        "request_id",
        "stamps",
    )

    def __init__(
        self,
        request_id: int,
        key: str,
        body: QueryMessage,
        qos: QoS | None,
        stamps: TimestampStack | None,
        origin: OpenQuery | None,
    ) -> None:
        self.request_id = request_id
        self.key = key
        self.body = body
        self.parameters = body.parameters or ""
        self.qos = qos
        self.stamps = stamps
        # The session's own query that it came from; None if it came from the network.
        self.origin = origin
        self.accepts_any_key = accepts_any_key(self.parameters)
        self.holders = 0
