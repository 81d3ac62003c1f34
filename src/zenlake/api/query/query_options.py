"""`QueryOptions`: the options of a `get` or a querier, checked and as the wire knows them."""

from __future__ import annotations

from zenlake import wire
from zenlake.api.arguments.conversion import constant
from zenlake.api.query.consolidation import QueryConsolidation, consolidation_mode_of
from zenlake.api.values.enums import ConsolidationMode, QueryTarget, ReplyKeyExpr
from zenlake.session.locality import Locality as CoreLocality
from zenlake.session.queries import QuerySpec


class QueryOptions:
    """The options that all queries of a querier share."""

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

    def spec(
        self,
        *,
        body: wire.QueryBody | None,
        attachment: bytes | None,
        source_info: wire.SourceInfo | None,
        stamps: wire.TimestampStack | None,
        budget: int | None = None,
        owner_eid: int = 0,
    ) -> QuerySpec:
        return QuerySpec(
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
