"""Types of the keyword arguments that all overloads of a method share, for type checkers."""

from __future__ import annotations

from typing import Any, TypedDict

from zenlake.api.query.cancellation_token import CancellationToken
from zenlake.api.query.consolidation import QueryConsolidation
from zenlake.api.values.encoding import Encoding
from zenlake.api.values.enums import (
    CongestionControl,
    ConsolidationMode,
    Locality,
    Priority,
    QueryTarget,
    ReplyKeyExpr,
)
from zenlake.api.values.identifiers import SourceInfo
from zenlake.api.values.timestamp_stack import TimestampInstrumentation
from zenlake.keyexpr import Parameters


class _CommonGetOptions(TypedDict, total=False):
    """Options of `Session.get` and `Querier.get`."""

    payload: Any
    encoding: Encoding | str | None
    attachment: Any
    source_info: SourceInfo | None
    cancellation_token: CancellationToken | None
    timestamp_instrumentation: TimestampInstrumentation | None


class QuerierGetOptions(_CommonGetOptions, total=False):
    """Options of `Querier.get`."""

    parameters: Parameters | dict[str, str] | str | None


class GetOptions(_CommonGetOptions, total=False):
    """Options of `Session.get`."""

    target: QueryTarget | None
    consolidation: QueryConsolidation | ConsolidationMode | None
    accept_replies: ReplyKeyExpr | None
    timeout: float | None
    congestion_control: CongestionControl | None
    priority: Priority | None
    express: bool | None
    allowed_destination: Locality | None
    budget: int | None


class SubscriberOptions(TypedDict, total=False):
    """Options of `Session.declare_subscriber`."""

    allowed_origin: Locality | None


class QueryableOptions(TypedDict, total=False):
    """Options of `Session.declare_queryable`."""

    complete: bool | None
    allowed_origin: Locality | None
