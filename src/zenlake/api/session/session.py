"""`Session`: an application's connection to the network."""

from __future__ import annotations

import time
from typing import Any, Self, Unpack, final, overload

from zenlake import wire
from zenlake.api.arguments.conversion import (
    PUT_CONGESTION,
    QUERY_CONGESTION,
    attachment_of,
    budget_of,
    constant,
    encoding_of,
    key_text,
    locality,
    payload_of,
    qos_of,
    selector_texts,
    source_info_of,
    timeout_ms_of,
    timestamp_of,
)
from zenlake.api.arguments.known_keys import key_expr_of
from zenlake.api.arguments.method_options import GetOptions, QueryableOptions, SubscriberOptions
from zenlake.api.final_classes import NoConstructor
from zenlake.api.handlers.handler import Handler
from zenlake.api.handlers.handler_types import H, IntoCallback, IntoChannel, IntoPair
from zenlake.api.network.session_info import SessionInfo
from zenlake.api.publication.known_publications import KnownPublications
from zenlake.api.publication.publisher import Publisher
from zenlake.api.publication.sample import Sample
from zenlake.api.publication.subscriber import Subscriber, declare_subscriber
from zenlake.api.query.cancellation_token import CancellationToken
from zenlake.api.query.consolidation import QueryConsolidation
from zenlake.api.query.get import body_of, get_with_defaults, get_with_handler
from zenlake.api.query.querier import Querier
from zenlake.api.query.query import Query
from zenlake.api.query.query_options import QueryOptions
from zenlake.api.query.queryable import Queryable, declare_queryable
from zenlake.api.query.reply import Reply
from zenlake.api.session.declared_keys import DeclaredKeyCounts
from zenlake.api.session.liveliness import Liveliness
from zenlake.api.session.open_sessions import open_sessions
from zenlake.api.session.session_handle import SessionHandle
from zenlake.api.unannotated import Unannotated
from zenlake.api.values.encoding import Encoding
from zenlake.api.values.enums import (
    CongestionControl,
    ConsolidationMode,
    Locality,
    Priority,
    QueryTarget,
    Reliability,
    ReplyKeyExpr,
)
from zenlake.api.values.identifiers import EntityGlobalId, SourceInfo, ZenohId
from zenlake.api.values.timestamp import Timestamp
from zenlake.api.values.timestamp_stack import TimestampInstrumentation
from zenlake.keyexpr import KeyExpr, Selector
from zenlake.session.open_query import OpenQuery
from zenlake.session.queries import QuerySpec
from zenlake.session.sink import Sink


@final
class Session(NoConstructor):
    """Made by `open`. Closed at the end of a `with` block, or when it is garbage collected."""

    __slots__ = ("__weakref__", "_declared_keys", "_default_spec", "_handle", "_publications")
    _handle: SessionHandle
    _publications: KnownPublications
    _declared_keys: DeclaredKeyCounts
    _default_spec: QuerySpec

    @classmethod
    def _make(cls, handle: SessionHandle) -> Self:
        made = object.__new__(cls)
        made._handle = handle
        qos = qos_of(None, None, None, QUERY_CONGESTION)
        made._default_spec = QuerySpec(qos, handle.core.settings.query_timeout_ms)
        made._publications = KnownPublications(handle.core.publications.prepare)
        made._declared_keys = DeclaredKeyCounts()
        open_sessions.add(made)
        return made

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_args: object, **_kwargs: object) -> None:
        self.close()

    @property
    def info(self) -> SessionInfo:
        return SessionInfo._make(self._handle)

    @property
    def id(self) -> EntityGlobalId:
        return EntityGlobalId.from_wire(self._handle.core.zid, 1)

    def zid(self) -> ZenohId:
        return ZenohId.from_wire(self._handle.core.zid)

    def close(self) -> Unannotated:
        """End all declarations and queries, and disconnect; a second call does nothing."""
        open_sessions.discard(self)
        self._publications.clear()
        self._handle.close()

    def is_closed(self) -> bool:
        return self._handle.core.is_closed

    def __del__(self) -> None:
        self._handle.close_later()

    def new_timestamp(self) -> Timestamp:
        """A timestamp of this node's clock; works after `close` too."""
        handle = self._handle
        with handle.locked:
            return Timestamp.from_wire(handle.core.port.new_timestamp())

    def declare_keyexpr(self, key_expr: KeyExpr | str) -> KeyExpr:
        """The key expression; nothing is sent (behaviour reference §3.5)."""
        key = key_text(key_expr)
        self._handle.check_open()
        self._declared_keys.add(key)
        return key_expr_of(key)

    def undeclare(self, obj: Any) -> Unannotated:
        """Undeclare a key expression of `declare_keyexpr`, or any declared object."""
        if isinstance(obj, KeyExpr):
            self._declared_keys.remove(str(obj))
        else:
            obj.undeclare()

    def put(
        self,
        key_expr: KeyExpr | str,
        payload: object,
        *,
        encoding: Encoding | str | None = None,
        congestion_control: CongestionControl | None = None,
        priority: Priority | None = None,
        express: bool | None = None,
        attachment: object | None = None,
        timestamp: Timestamp | None = None,
        timestamp_instrumentation: TimestampInstrumentation | None = None,
        allowed_destination: Locality | None = None,
        source_info: SourceInfo | None = None,
    ) -> Unannotated:
        """Publish a value."""
        publication = self._publications.get(
            key_expr, congestion_control, priority, express, allowed_destination
        )
        body = wire.Put(
            payload if type(payload) is bytes else payload_of(payload),
            None if timestamp is None else timestamp_of(timestamp),
            None if encoding is None else encoding_of(encoding),
            None if source_info is None else source_info_of(source_info),
            False,
            None if attachment is None else attachment_of(attachment),
        )
        self._handle.put(publication, body, timestamp_instrumentation)

    def delete(
        self,
        key_expr: KeyExpr | str,
        *,
        congestion_control: CongestionControl | None = None,
        priority: Priority | None = None,
        express: bool | None = None,
        attachment: object | None = None,
        timestamp: Timestamp | None = None,
        timestamp_instrumentation: TimestampInstrumentation | None = None,
        allowed_destination: Locality | None = None,
        source_info: SourceInfo | None = None,
    ) -> Unannotated:
        """Publish the deletion of the value."""
        publication = self._publications.get(
            key_expr, congestion_control, priority, express, allowed_destination
        )
        body = wire.Del(
            timestamp_of(timestamp), source_info_of(source_info), attachment_of(attachment)
        )
        self._handle.put(publication, body, timestamp_instrumentation)

    @overload
    def get(
        self,
        selector: Selector | KeyExpr | str,
        handler: IntoChannel[Reply] = None,
        **options: Unpack[GetOptions],
    ) -> Handler[Reply]: ...
    @overload
    def get(
        self,
        selector: Selector | KeyExpr | str,
        handler: IntoPair[Reply, H],
        **options: Unpack[GetOptions],
    ) -> H: ...
    @overload
    def get(
        self,
        selector: Selector | KeyExpr | str,
        handler: IntoCallback[Reply],
        **options: Unpack[GetOptions],
    ) -> None: ...
    def get(
        self,
        selector: Selector | KeyExpr | str,
        handler: Any = None,
        *,
        target: QueryTarget | None = None,
        consolidation: QueryConsolidation | ConsolidationMode | None = None,
        accept_replies: ReplyKeyExpr | None = None,
        timeout: float | None = None,
        congestion_control: CongestionControl | None = None,
        priority: Priority | None = None,
        express: bool | None = None,
        payload: object | None = None,
        encoding: Encoding | str | None = None,
        attachment: object | None = None,
        allowed_destination: Locality | None = None,
        source_info: SourceInfo | None = None,
        cancellation_token: CancellationToken | None = None,
        timestamp_instrumentation: TimestampInstrumentation | None = None,
        budget: int | None = None,
    ) -> Any:
        """Send a query; returns the handler that receives the replies.

        After `budget` replies the query ends (eclipse-zenoh has no such argument).
        """
        handle = self._handle
        key, parameters = selector_texts(selector)
        is_plain = (
            (handler is None and target is None and consolidation is None and timeout is None)
            and (accept_replies is None and congestion_control is None and priority is None)
            and (express is None and payload is None and encoding is None and attachment is None)
            and (allowed_destination is None and source_info is None and budget is None)
            and (cancellation_token is None and timestamp_instrumentation is None)
        )
        if is_plain:
            return get_with_defaults(handle, key, parameters, self._default_spec)
        options = QueryOptions(
            key,
            target,
            consolidation,
            accept_replies,
            timeout_ms_of(timeout, handle.core.settings.query_timeout_ms),
            qos_of(congestion_control, priority, express, QUERY_CONGESTION),
            locality(allowed_destination, "allowed_destination"),
        )
        spec = options.spec(
            body=body_of(payload, encoding),
            attachment=attachment_of(attachment),
            source_info=source_info_of(source_info),
            stamps=handle.stamps(timestamp_instrumentation),
            budget=budget_of(budget),
        )

        def start(sink: Sink, now: float) -> OpenQuery:
            return handle.core.get(key, parameters, spec, sink, now)

        return get_with_handler(handle, handler, cancellation_token, start)

    @overload
    def declare_subscriber(
        self,
        key_expr: KeyExpr | str,
        handler: IntoChannel[Sample] = None,
        **options: Unpack[SubscriberOptions],
    ) -> Subscriber[Handler[Sample]]: ...
    @overload
    def declare_subscriber(
        self,
        key_expr: KeyExpr | str,
        handler: IntoPair[Sample, H],
        **options: Unpack[SubscriberOptions],
    ) -> Subscriber[H]: ...
    @overload
    def declare_subscriber(
        self,
        key_expr: KeyExpr | str,
        handler: IntoCallback[Sample],
        **options: Unpack[SubscriberOptions],
    ) -> Subscriber[None]: ...
    def declare_subscriber(
        self,
        key_expr: KeyExpr | str,
        handler: Any = None,
        *,
        allowed_origin: Locality | None = None,
    ) -> Subscriber[Any]:
        """Receive samples."""
        return declare_subscriber(self._handle, key_expr, handler, allowed_origin)

    @overload
    def declare_queryable(
        self,
        key_expr: KeyExpr | str,
        handler: IntoChannel[Query] = None,
        **options: Unpack[QueryableOptions],
    ) -> Queryable[Handler[Query]]: ...
    @overload
    def declare_queryable(
        self,
        key_expr: KeyExpr | str,
        handler: IntoPair[Query, H],
        **options: Unpack[QueryableOptions],
    ) -> Queryable[H]: ...
    @overload
    def declare_queryable(
        self,
        key_expr: KeyExpr | str,
        handler: IntoCallback[Query],
        **options: Unpack[QueryableOptions],
    ) -> Queryable[None]: ...
    def declare_queryable(
        self,
        key_expr: KeyExpr | str,
        handler: Any = None,
        *,
        complete: bool | None = None,
        allowed_origin: Locality | None = None,
    ) -> Queryable[Any]:
        """Answer queries; `complete` promises that the replies contain all values of the key."""
        return declare_queryable(self._handle, key_expr, handler, complete, allowed_origin)

    def declare_publisher(
        self,
        key_expr: KeyExpr | str,
        *,
        encoding: Encoding | str | None = None,
        congestion_control: CongestionControl | None = None,
        priority: Priority | None = None,
        express: bool | None = None,
        reliability: Reliability | None = None,
        allowed_destination: Locality | None = None,
    ) -> Publisher:
        """Declare a publisher, for repeated publications with the same options."""
        handle = self._handle
        key = key_text(key_expr)
        qos = qos_of(congestion_control, priority, express, PUT_CONGESTION)
        checked = constant(reliability, Reliability, "reliability", Reliability.RELIABLE)
        publication = handle.core.publications.prepare(
            key,
            qos,
            checked is Reliability.RELIABLE,
            locality(allowed_destination, "allowed_destination"),
            encoding_of(encoding),
        )
        with handle.locked:
            entity = handle.core.declare_publisher(key, publication.destination, time.monotonic())
        return Publisher._make_with_publication(handle, entity, publication)

    def declare_querier(
        self,
        key_expr: KeyExpr | str,
        *,
        target: QueryTarget | None = None,
        consolidation: QueryConsolidation | ConsolidationMode | None = None,
        accept_replies: ReplyKeyExpr | None = None,
        timeout: float | None = None,
        congestion_control: CongestionControl | None = None,
        priority: Priority | None = None,
        express: bool | None = None,
        allowed_destination: Locality | None = None,
    ) -> Querier:
        """Declare a querier, for repeated queries with the same options."""
        handle = self._handle
        options = QueryOptions(
            key_text(key_expr),
            target,
            consolidation,
            accept_replies,
            timeout_ms_of(timeout, handle.core.settings.query_timeout_ms),
            qos_of(congestion_control, priority, express, QUERY_CONGESTION),
            locality(allowed_destination, "allowed_destination"),
        )
        all_complete = options.target == wire.QueryTarget.ALL_COMPLETE
        with handle.locked:
            entity = handle.core.declare_querier(
                options.key, options.destination, all_complete, time.monotonic()
            )
        return Querier._make_with_options(handle, entity, options)

    def liveliness(self) -> Liveliness:
        """Liveliness tokens of this session and of others."""
        return Liveliness._make(self._handle)

    def __repr__(self) -> str:
        return f"Session {{ id: {self._handle.core.zid} }}"
