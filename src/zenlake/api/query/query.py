"""`Query`: a query that a queryable received; it must be dropped after the last reply."""

from __future__ import annotations

import time
from typing import final

from zenlake import wire
from zenlake.api.arguments.conversion import (
    attachment_of,
    encoding_of,
    flag_of,
    key_text,
    payload_of,
    timestamp_of,
)
from zenlake.api.arguments.deprecated_qos import warn_of_ignored_qos
from zenlake.api.arguments.known_keys import key_expr_of
from zenlake.api.final_classes import no_subclasses
from zenlake.api.session.session_handle import SessionHandle
from zenlake.api.unannotated import Unannotated
from zenlake.api.values.encoding import Encoding
from zenlake.api.values.enums import CongestionControl, Priority, ReplyKeyExpr
from zenlake.api.values.identifiers import SourceInfo
from zenlake.api.values.timestamp import Timestamp
from zenlake.api.values.timestamp_stack import TimestampStack
from zenlake.api.values.zbytes import ZBytes
from zenlake.errors import ZError
from zenlake.forks import InheritedError
from zenlake.keyexpr import KeyExpr, Parameters, Selector
from zenlake.session.incoming_query import IncomingQuery
from zenlake.session.lost_queries import LostQuery


@final
class Query:
    """A received query. Use it in a `with` block, or call `drop`: the requester waits for the end.

    A query that is garbage collected without `drop` is finished then, with a warning.
    """

    __slots__ = ("_eid", "_incoming", "_is_dropped", "_session")

    def __init__(self, session: SessionHandle, incoming: IncomingQuery, eid: int) -> None:
        """Not for users, who receive queries and do not make them."""
        self._session = session
        self._incoming = incoming
        self._eid = eid
        self._is_dropped = False

    def __enter__(self) -> Query:
        self._checked()
        return self

    def __exit__(self, *_args: object, **_kwargs: object) -> None:
        self.drop()

    def _checked(self) -> IncomingQuery:
        if self._is_dropped:
            raise ZError("Dropped query")
        return self._incoming

    @property
    def selector(self) -> Selector:
        incoming = self._checked()
        return Selector(key_expr_of(incoming.key), incoming.parameters)

    @property
    def key_expr(self) -> KeyExpr:
        return key_expr_of(self._checked().key)

    @property
    def parameters(self) -> Parameters:
        return Parameters(self._checked().parameters)

    @property
    def payload(self) -> ZBytes | None:
        body = self._checked().body.body
        return None if body is None else ZBytes.from_raw(body.payload)

    @property
    def encoding(self) -> Encoding | None:
        body = self._checked().body.body
        return None if body is None else Encoding.from_wire(body.encoding)

    @property
    def attachment(self) -> ZBytes | None:
        attachment = self._checked().body.attachment
        return None if attachment is None else ZBytes.from_raw(attachment)

    @property
    def source_info(self) -> SourceInfo | None:
        info = self._checked().body.source_info
        return None if info is None else SourceInfo.from_wire(info)

    @property
    def timestamp_stack(self) -> TimestampStack | None:
        stamps = self._checked().stamps
        return None if stamps is None else TimestampStack.from_wire(stamps)

    def accepts_replies(self) -> ReplyKeyExpr:
        """Which keys replies may have."""
        any_key = self._checked().accepts_any_key
        return ReplyKeyExpr.ANY if any_key else ReplyKeyExpr.MATCHING_QUERY

    def reply(
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
    ) -> Unannotated:
        """Reply with a value. Priority and congestion control are those of the query."""
        if congestion_control is not None or priority is not None:
            warn_of_ignored_qos("reply", congestion_control, priority)
        body = wire.Put(
            payload_of(payload),
            timestamp_of(timestamp),
            encoding_of(encoding),
            None,
            False,
            attachment_of(attachment),
        )
        self._reply(key_expr, body, express)

    def reply_del(
        self,
        key_expr: KeyExpr | str,
        *,
        congestion_control: CongestionControl | None = None,
        priority: Priority | None = None,
        express: bool | None = None,
        attachment: object | None = None,
        timestamp: Timestamp | None = None,
    ) -> Unannotated:
        """Reply that the value was deleted."""
        if congestion_control is not None or priority is not None:
            warn_of_ignored_qos("reply_del", congestion_control, priority)
        body = wire.Del(timestamp_of(timestamp), None, attachment_of(attachment))
        self._reply(key_expr, body, express)

    def reply_err(self, payload: object, *, encoding: Encoding | str | None = None) -> Unannotated:
        """Reply with an error."""
        incoming = self._checked()
        body = wire.Err(payload_of(payload), encoding_of(encoding))
        session = self._session
        session.begin()
        try:
            session.core.reply_error(incoming, self._eid, body, time.monotonic())
        finally:
            session.end_reply()

    def _reply(
        self, key_expr: KeyExpr | str, body: wire.Put | wire.Del, express: bool | None
    ) -> None:
        incoming = self._checked()
        key = key_text(key_expr)
        flag_of(express, "express")
        session = self._session
        session.begin()
        try:
            session.core.reply(incoming, self._eid, key, body, express, time.monotonic())
        finally:
            session.end_reply()

    def drop(self) -> Unannotated:
        """End the replies; a second call does nothing."""
        session = self._session
        try:
            session.begin()
        except InheritedError:  # a `with` block ends in a forked child too
            self._is_dropped = True
            return
        try:
            if not self._is_dropped:
                self._is_dropped = True
                session.core.drop_query(self._incoming, time.monotonic())
        finally:
            session.end_reply()

    def __del__(self) -> None:
        if not getattr(self, "_is_dropped", True):  # absent if a user's constructor call failed
            self._session.finish_later(LostQuery(self._incoming, self._eid))

    def __str__(self) -> str:
        return f'Query {{ selector: "{self.selector}" }}'

    def __repr__(self) -> str:
        if self._is_dropped:
            return "Query { dropped }"
        incoming = self._incoming
        return f"Query {{ key_selector: ke`{incoming.key}`, parameters: {incoming.parameters} }}"


no_subclasses(Query)
