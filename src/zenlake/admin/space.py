"""`AdminSpace`: the keys `@/<zid>/<mode>/**` of a node (behaviour reference §5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol

from zenlake.admin.config_writes import refusal_of
from zenlake.admin.declarations import DeclarationsTopic
from zenlake.admin.explain import Explain
from zenlake.admin.faces import FaceCounters, NodeCounters
from zenlake.admin.facts import NodeFacts
from zenlake.admin.graph import Graph
from zenlake.admin.interests import InterestsTopic
from zenlake.admin.metrics import Metrics
from zenlake.admin.query import AdminQuery
from zenlake.admin.root import Root
from zenlake.admin.settings import AdminSettings
from zenlake.admin.successors import Successors
from zenlake.limits import ADMIN_ANSWERS_MAX, ADMIN_ANSWERS_PER_SESSION_MAX
from zenlake.routing.declarations.entity import QUERYABLE, SUBSCRIBER, TOKEN
from zenlake.routing.outlet import Outlet
from zenlake.routing.work import SLICE_STEPS
from zenlake.wire import (
    Declare,
    DeclareQueryable,
    DeclareSubscriber,
    NetworkMessage,
    Push,
    Request,
    WireExpr,
)
from zenlake.wire.values.qos import QOS_BYTES

if TYPE_CHECKING:
    from zenlake.routing.dispatcher import Dispatcher
    from zenlake.routing.work import Job

_CONTROL: Final = QOS_BYTES[0x08]
_QUERYABLE_ID: Final = 1
_SUBSCRIBER_ID: Final = 2


class Topic(Protocol):
    """One kind of key of the admin space."""

    @property
    def pattern(self) -> str:
        """A key expression that includes all keys of the topic."""
        ...

    def answer(self, query: AdminQuery) -> Job:
        """Reply on every key of the topic that the query concerns."""
        ...


class AdminSpace(Outlet):
    """A client of its own node. Every method is called under the node's lock."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        settings: AdminSettings,
        facts: NodeFacts,
        answer_later: Callable[[AdminQuery], None],
        report: Callable[[str], None],
    ) -> None:
        """`answer_later` queues a query whose answer is long; the node then calls `resume`."""
        self._dispatcher = dispatcher
        self._tables = tables = dispatcher.tables
        self._settings = settings
        self._answer_later = answer_later
        self._report = report
        self._long: list[AdminQuery] = []
        self._face = dispatcher.add_local(self)
        root = f"@/{dispatcher.zid}/{dispatcher.role}"
        self._root = root
        self._topics: list[Topic] = [
            Root(root, settings.metadata, tables, facts),
            Metrics(root, tables, facts, report),
            Graph(root, tables),
            Successors(root, tables),
            DeclarationsTopic(root, "subscriber", SUBSCRIBER, tables),
            DeclarationsTopic(root, "queryable", QUERYABLE, tables),
            DeclarationsTopic(root, "token", TOKEN, tables),
            InterestsTopic(root, "publisher", SUBSCRIBER, tables),
            InterestsTopic(root, "querier", QUERYABLE, tables),
            NodeCounters(root, tables, facts),
            FaceCounters(root, tables, facts),
            Explain(root, dispatcher, facts, self._face),
        ]
        self._declare(DeclareQueryable(_QUERYABLE_ID, WireExpr(0, f"{root}/**")))
        self._declare(DeclareSubscriber(_SUBSCRIBER_ID, WireExpr(0, f"{root}/config/**")))

    def _declare(self, body: DeclareQueryable | DeclareSubscriber) -> None:
        self._dispatcher.receive(self._face, Declare(body, qos=_CONTROL), True, 0.0)

    def push(self, message: NetworkMessage, key: str, reliable: bool) -> None:
        if isinstance(message, Request):
            self._receive(AdminQuery(self._dispatcher, self._face, self._tables.work, key, message))
        elif isinstance(message, Push):
            self._report(refusal_of(message, key, self._root, self._settings.write))

    def _receive(self, query: AdminQuery) -> None:
        """Answer within this slice if possible; most answers are short."""
        if not self._settings.read:
            self._report(f"GET on `{query.key}` is refused: adminspace/permissions/read is false")
            query.finish()
            return
        query.job = self._answer(query)
        work = self._tables.work
        steps = work.steps
        # Requests of this process have no limit of their own.
        slice_steps = min(steps, SLICE_STEPS)
        is_finished = self.resume(query, slice_steps)
        work.steps = steps - (slice_steps - work.steps)
        if is_finished:
            return
        refusal = self._refusal_of(query)
        if refusal:
            self._report(f"GET on `{query.key}` is refused: {refusal}")
            query.fail(refusal)
            query.finish()
        else:
            self._long.append(query)
            self._answer_later(query)

    def _refusal_of(self, query: AdminQuery) -> str:
        """Why the node does not continue a long answer; "" if it does."""
        if len(self._long) >= ADMIN_ANSWERS_MAX:
            return f"{ADMIN_ANSWERS_MAX} long answers of the admin space are being made"
        requester = query.requester
        own = sum(1 for other in self._long if other.requester is requester)
        if own >= ADMIN_ANSWERS_PER_SESSION_MAX:
            return f"{own} long answers of the admin space are being made for this session"
        return ""

    def resume(self, query: AdminQuery, steps: int) -> bool:
        """Continue an answer for one slice; returns whether it is finished."""
        self._tables.work.steps = steps
        job = query.job
        assert job is not None
        if query.requester is not None:
            for _ in job:
                return False
        query.finish()
        if query in self._long:
            self._long.remove(query)
        return True

    def _answer(self, query: AdminQuery) -> Job:
        for topic in self._topics:
            if query.concerns(topic.pattern):
                yield from topic.answer(query)
