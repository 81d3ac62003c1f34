"""`Querier`: sends queries on one key expression with the same options."""

from __future__ import annotations

from types import GenericAlias
from typing import Any, ClassVar, Self, Unpack, final, overload

from zenlake.api.arguments.conversion import attachment_of, parameters_text, source_info_of
from zenlake.api.arguments.method_options import QuerierGetOptions
from zenlake.api.handlers.handler import Handler
from zenlake.api.handlers.handler_types import H, IntoCallback, IntoChannel, IntoPair
from zenlake.api.publication.matching_listener import DeclaredWithMatching
from zenlake.api.query.cancellation_token import CancellationToken
from zenlake.api.query.get import body_of, get_with_defaults, get_with_handler
from zenlake.api.query.query_options import QueryOptions
from zenlake.api.query.reply import Reply
from zenlake.api.session.session_handle import SessionHandle
from zenlake.api.values.encoding import Encoding
from zenlake.api.values.enums import ReplyKeyExpr
from zenlake.api.values.identifiers import SourceInfo
from zenlake.api.values.timestamp_stack import TimestampInstrumentation
from zenlake.keyexpr import Parameters
from zenlake.session.matching import MatchingSource
from zenlake.session.open_query import OpenQuery
from zenlake.session.queries import QuerySpec
from zenlake.session.sink import Sink


@final
class Querier(DeclaredWithMatching):
    """Sends queries on one key. Undeclaring the querier ends its queries."""

    __slots__ = ("_default_spec", "_options")
    _NAME: ClassVar[str] = "querier"
    _options: QueryOptions
    _default_spec: QuerySpec

    @classmethod
    def __class_getitem__(cls, item: object) -> GenericAlias:
        """`Querier[...]` works in eclipse-zenoh, though nothing depends on the parameter."""
        return GenericAlias(cls, item)

    @classmethod
    def _make_with_options(
        cls, session: SessionHandle, entity: MatchingSource, options: QueryOptions
    ) -> Self:
        made = cls._make(session, entity)
        made._options = options
        made._default_spec = options.spec(
            body=None, attachment=None, source_info=None, stamps=None, owner_eid=entity.eid
        )
        return made

    @property
    def accept_replies(self) -> ReplyKeyExpr:
        self._check()
        return ReplyKeyExpr.ANY if self._options.accepts_any_key else ReplyKeyExpr.MATCHING_QUERY

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
        """Send a query; returns the handler that receives the replies."""
        self._check()
        session = self._session
        key = self._options.key
        text = parameters_text(parameters)
        is_plain = (
            (handler is None and payload is None and encoding is None and attachment is None)
            and (source_info is None and cancellation_token is None)
            and timestamp_instrumentation is None
        )
        if is_plain:
            return get_with_defaults(session, key, text, self._default_spec)
        spec = self._options.spec(
            body=body_of(payload, encoding),
            attachment=attachment_of(attachment),
            source_info=source_info_of(source_info),
            stamps=session.stamps(timestamp_instrumentation),
            owner_eid=self._entity.eid,
        )

        def start(sink: Sink, now: float) -> OpenQuery:
            return session.core.get(key, text, spec, sink, now)

        return get_with_handler(session, handler, cancellation_token, start)

    def __repr__(self) -> str:
        if self._is_undeclared:
            return "Querier { undeclared }"
        return f"Querier {{ id: {self._entity.eid}, key_expr: ke`{self._options.key}` }}"
