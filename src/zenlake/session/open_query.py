"""A query of this session that has not ended.

It ends when the network and the own queryables have both finished, on timeout, when its budget is
used up, when it is cancelled, or with its session (behaviour reference §2.5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.session.consolidation import Consolidation
from zenlake.session.held_bytes import held_bytes_of
from zenlake.session.port import Port
from zenlake.session.sink import Sink
from zenlake.wire import ConsolidationMode, Encoding, Err, Put, Reply, Response, TimestampStack

if TYPE_CHECKING:
    from zenlake.session.queries import Queries

STRING: Final = Encoding(1)
TIMEOUT: Final = b"Timeout"
# What a held reply costs beside its payload, attachment and key.
_REPLY_BYTES: Final = 400


class OpenQuery:
    """A query, the sides that may still answer it, and the replies that are held back."""

    __slots__ = (
        "_port",
        "_queries",
        "_sink",
        "accepts_any_key",
        "budget_left",
        "consolidation",
        "deadline",
        "id",
        "is_open",
        "is_timeout_reported",
        "key",
        "local_open",
        "network_open",
        "owner_eid",
    )

    def __init__(
        self,
        port: Port,
        queries: Queries,
        id: int,
        key: str,
        sink: Sink,
        mode: ConsolidationMode,
        deadline: float,
        budget: int,
        owner_eid: int,
    ) -> None:
        self._port = port
        self._queries = queries
        self._sink = sink
        self.id = id
        self.key = key
        limits = port.settings
        self.consolidation = Consolidation(mode, limits.held_replies_max, limits.held_bytes_max)
        self.deadline = deadline
        # How many replies the application still accepts; negative: all.
        self.budget_left = budget
        self.owner_eid = owner_eid
        self.accepts_any_key = False
        self.network_open = False
        self.local_open = False
        self.is_open = True
        self.is_timeout_reported = False

    def receive(self, key: str, response: Response) -> None:
        """Receive a reply whose key matches the query."""
        body = response.body
        if isinstance(body, Reply):
            self._receive_reply(key, response, body)
        elif not self._is_repeated_timeout(key, body):
            make = self._port.factory.error
            stamps = self._received(response)
            self.hand_over(make(body.payload, body.encoding, stamps, response.responder))

    def _received(self, response: Response) -> TimestampStack | None:
        stamps = response.stamps
        return None if stamps is None else self._port.stamp_received(stamps)

    def _is_repeated_timeout(self, key: str, error: Err) -> bool:
        """Every node on the path has the same timeout; the application gets one such error."""
        was_reported = self.is_timeout_reported
        if key or error.payload != TIMEOUT:  # a queryable's errors have a key
            return False
        self.is_timeout_reported = True
        return was_reported

    def _receive_reply(self, key: str, response: Response, reply: Reply) -> None:
        consolidation = self.consolidation
        data = reply.body
        latest = consolidation.mode == ConsolidationMode.LATEST
        size = 0
        if latest:
            size = _REPLY_BYTES + len(key)
            if isinstance(data, Put):
                size += len(data.payload)
            if data.attachment is not None:
                size += len(data.attachment)
            kept = consolidation.may_hold(key, data.timestamp, size)
        else:
            kept = consolidation.passes(key, data.timestamp)
        if not kept:
            return
        make = self._port.factory.ok
        item = make(key, data, response.qos, self._received(response), response.responder)
        if not latest:
            self.hand_over(item)
            return
        consolidation.hold(key, data.timestamp, item, size, held_bytes_of(data))
        if consolidation.held_count() == self.budget_left:
            self.complete()

    def hand_over(self, item: object) -> None:
        """Deliver a reply that no consolidation holds back."""
        if self.budget_left == 0:
            return
        self._port.to_application(self._sink, item)
        if self.budget_left > 0:
            self.budget_left -= 1
            if self.budget_left == 0 or self.budget_left == self.consolidation.held_count() > 0:
                self.complete()

    def finish_network(self) -> None:
        self.network_open = False
        if self.is_open and not self.local_open:
            self.complete()

    def finish_local(self) -> None:
        self.local_open = False
        if self.is_open and not self.network_open:
            self.complete()

    def time_out(self) -> None:
        """Deliver the replies that LATEST held, then one error without a replier."""
        if self.is_open:
            self._release()
            if self.budget_left != 0 and not self.is_timeout_reported:
                self._port.to_application(
                    self._sink, self._port.factory.error(TIMEOUT, STRING, None, None)
                )
            self.abandon()

    def complete(self) -> None:
        """Hand over what is held, and close the sink."""
        if self.is_open:
            self._release()
            self.abandon()

    def abandon(self) -> None:
        """End without a reply: cancellation, undeclared querier, closed session."""
        if self.is_open:
            self.is_open = False
            self._queries.forget(self)
            self._port.close(self._sink)

    def _release(self) -> None:
        port = self._port
        held = self.consolidation.release()
        is_cut = 0 <= self.budget_left < len(held)
        if is_cut:
            held = held[: self.budget_left]
        if self.budget_left >= 0:
            self.budget_left -= len(held)
        if len(held) == 1:
            port.all_to_application(self._sink, [held[0].item], held[0].handler_bytes)
        elif held:
            # The replies are handed over in one call: there may be 100,000, and the node's lock is
            # held.
            items: list[object] = [one.item for one in held]
            port.all_to_application(self._sink, items, sum([one.handler_bytes for one in held]))
        if is_cut:
            return
        refused = self.consolidation.refused
        if refused:
            port.count("refused_replies", refused)
            text = f"Too many replies: {refused} dropped"
            error = port.factory.error(text.encode(), STRING, None, None)
            port.to_application(self._sink, error)
