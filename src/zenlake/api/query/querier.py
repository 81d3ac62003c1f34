"""`Querier`: asks again and again about one key, with what does not change decided once."""

from __future__ import annotations

import time
from types import GenericAlias
from typing import Any, ClassVar, Self, Unpack, final, overload

from zenlake import wire
from zenlake.api.arguments.conversion import (
    QUERY_CONGESTION,
    attachment_of,
    constant,
    key_text,
    locality,
    parameters_text,
    qos_of,
    source_info_of,
    timeout_ms_of,
)
from zenlake.api.arguments.known_keys import key_expr_of
from zenlake.api.arguments.method_options import QuerierGetOptions
from zenlake.api.handlers.handler import Handler
from zenlake.api.handlers.handler_types import H, IntoCallback, IntoChannel, IntoPair
from zenlake.api.publication.matching_listener import (
    MatchingListener,
    declare_matching_listener,
    matching_status,
)
from zenlake.api.publication.matching_status import MatchingStatus
from zenlake.api.query.cancellation_token import CancellationToken
from zenlake.api.query.consolidation import QueryConsolidation, consolidation_mode_of
from zenlake.api.query.get import ask, ask_plainly, body_of
from zenlake.api.query.reply import Reply
from zenlake.api.session.declared import Declared
from zenlake.api.session.session_handle import Shell
from zenlake.api.values.encoding import Encoding
from zenlake.api.values.enums import (
    CongestionControl,
    ConsolidationMode,
    Locality,
    Priority,
    QueryTarget,
    ReplyKeyExpr,
)
from zenlake.api.values.identifiers import EntityGlobalId, SourceInfo
from zenlake.api.values.timestamp_stack import TimestampInstrumentation
from zenlake.keyexpr import KeyExpr, Parameters
from zenlake.session.locality import Locality as CoreLocality
from zenlake.session.matching import Speaker
from zenlake.session.open_query import OpenQuery
from zenlake.session.queries import Question
from zenlake.session.sink import Sink


class Manner:
    """How a querier asks: what all its queries have in common."""

    __slots__ = (
        "accepts_any_key",
        "consolidation",
        "destination",
        "key",
        "qos",
        "target",
        "timeout_ms",
    )

    def __init__(
        self,
        key: str,
        target: QueryTarget | None,
        consolidation: QueryConsolidation | ConsolidationMode | None,
        accept_replies: ReplyKeyExpr | None,
        timeout_ms: int,
        qos: wire.QoS,
        destination: CoreLocality,
    ) -> None:
        best = QueryTarget.BEST_MATCHING
        matching = ReplyKeyExpr.MATCHING_QUERY
        self.key = key
        self.target = wire.QueryTarget(int(constant(target, QueryTarget, "target", best)))
        accepted = constant(accept_replies, ReplyKeyExpr, "accept_replies", matching)
        self.accepts_any_key = accepted is ReplyKeyExpr.ANY
        mode = consolidation_mode_of(
            ConsolidationMode.AUTO if consolidation is None else consolidation
        )
        self.consolidation = wire.ConsolidationMode(int(mode))
        self.timeout_ms = timeout_ms
        self.qos = qos
        self.destination = destination

    def question(
        self,
        *,
        body: wire.QueryBody | None,
        attachment: bytes | None,
        source_info: wire.SourceInfo | None,
        stamps: wire.TimestampStack | None,
        budget: int | None = None,
        owner_eid: int = 0,
    ) -> Question:
        return Question(
            self.qos,
            self.timeout_ms,
            target=self.target,
            consolidation=self.consolidation,
            destination=self.destination,
            accepts_any_key=self.accepts_any_key,
            body=body,
            attachment=attachment,
            source_info=source_info,
            stamps=stamps,
            budget=budget,
            owner_eid=owner_eid,
        )


@final
class Querier(Declared):
    """Knows whether anybody would answer. Undeclaring it ends its queries."""

    __slots__ = ("_manner", "_plain_question")
    _NAME: ClassVar[str] = "querier"
    _entity: Speaker
    _manner: Manner
    _plain_question: Question

    @classmethod
    def __class_getitem__(cls, item: object) -> GenericAlias:
        """`Querier[...]` works in eclipse-zenoh, though nothing depends on the parameter."""
        return GenericAlias(cls, item)

    @classmethod
    def _of_manner(cls, shell: Shell, entity: Speaker, manner: Manner) -> Self:
        made = cls._of(shell, entity)
        made._manner = manner
        made._plain_question = manner.question(
            body=None, attachment=None, source_info=None, stamps=None, owner_eid=entity.eid
        )
        return made

    @property
    def id(self) -> EntityGlobalId:
        self._check()
        return EntityGlobalId.of_wire(self._shell.core.zid, self._entity.eid)

    @property
    def key_expr(self) -> KeyExpr:
        self._check()
        return key_expr_of(self._manner.key)

    @property
    def accept_replies(self) -> ReplyKeyExpr:
        self._check()
        return ReplyKeyExpr.ANY if self._manner.accepts_any_key else ReplyKeyExpr.MATCHING_QUERY

    @property
    def matching_status(self) -> MatchingStatus:
        """Whether there is a matching queryable."""
        self._check()
        return matching_status(self._shell, self._entity)

    @overload
    def get(
        self, handler: IntoChannel[Reply] = None, **options: Unpack[QuerierGetOptions]
    ) -> Handler[Reply]: ...
    @overload
    def get(self, handler: IntoPair[Reply, H], **options: Unpack[QuerierGetOptions]) -> H: ...
    @overload
    def get(self, handler: IntoCallback[Reply], **options: Unpack[QuerierGetOptions]) -> None: ...
    def get(
        self,
        handler: Any = None,
        *,
        parameters: Parameters | dict[str, str] | str | None = None,
        payload: object | None = None,
        encoding: Encoding | str | None = None,
        attachment: object | None = None,
        source_info: SourceInfo | None = None,
        cancellation_token: CancellationToken | None = None,
        timestamp_instrumentation: TimestampInstrumentation | None = None,
    ) -> Any:
        """Ask; gives the handler through which replies come."""
        self._check()
        shell = self._shell
        key = self._manner.key
        text = parameters_text(parameters)
        is_plain = (
            (handler is None and payload is None and encoding is None and attachment is None)
            and (source_info is None and cancellation_token is None)
            and timestamp_instrumentation is None
        )
        if is_plain:
            return ask_plainly(shell, key, text, self._plain_question)
        question = self._manner.question(
            body=body_of(payload, encoding),
            attachment=attachment_of(attachment),
            source_info=source_info_of(source_info),
            stamps=shell.stamps(timestamp_instrumentation),
            owner_eid=self._entity.eid,
        )

        def start(sink: Sink, now: float) -> OpenQuery:
            return shell.core.get(key, text, question, sink, now)

        return ask(shell, handler, cancellation_token, start)

    @overload
    def declare_matching_listener(
        self, handler: IntoChannel[MatchingStatus] = None
    ) -> MatchingListener[Handler[MatchingStatus]]: ...
    @overload
    def declare_matching_listener(
        self, handler: IntoPair[MatchingStatus, H]
    ) -> MatchingListener[H]: ...
    @overload
    def declare_matching_listener(
        self, handler: IntoCallback[MatchingStatus]
    ) -> MatchingListener[None]: ...
    def declare_matching_listener(self, handler: Any = None) -> MatchingListener[Any]:
        """Be told when somebody begins or ceases to answer."""
        self._check()
        return declare_matching_listener(self._shell, self._entity, handler)

    def __repr__(self) -> str:
        if self._is_undeclared:
            return "Querier { undeclared }"
        return f"Querier {{ id: {self._entity.eid}, key_expr: ke`{self._manner.key}` }}"


def declare_querier(
    shell: Shell,
    key_expr: KeyExpr | str,
    target: QueryTarget | None,
    consolidation: QueryConsolidation | ConsolidationMode | None,
    accept_replies: ReplyKeyExpr | None,
    timeout: float | None,
    congestion_control: CongestionControl | None,
    priority: Priority | None,
    express: bool | None,
    allowed_destination: Locality | None,
) -> Querier:
    manner = Manner(
        key_text(key_expr),
        target,
        consolidation,
        accept_replies,
        timeout_ms_of(timeout, shell.core.settings.query_timeout_ms),
        qos_of(congestion_control, priority, express, QUERY_CONGESTION),
        locality(allowed_destination, "allowed_destination"),
    )
    all_complete = manner.target == wire.QueryTarget.ALL_COMPLETE
    shell.begin()
    try:
        entity = shell.core.declare_querier(
            manner.key, manner.destination, all_complete, time.monotonic()
        )
    finally:
        shell.end()
    return Querier._of_manner(shell, entity, manner)
