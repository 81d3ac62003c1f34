"""`Session`: an application's place in the network."""

from __future__ import annotations

import atexit
import contextlib
import threading
import time
import weakref
from typing import Any, Final, Self, final

from zenlake import wire
from zenlake.api.arguments import (
    PUT_CONGESTION,
    QUERY_CONGESTION,
    attachment_of,
    budget_of,
    encoding_of,
    key_expr_of,
    key_text,
    locality,
    payload_of,
    qos_of,
    selector_texts,
    source_info_of,
    timeout_ms_of,
    timestamp_of,
)
from zenlake.api.asking import ask, body_of
from zenlake.api.cancellation import CancellationToken
from zenlake.api.encoding import Encoding
from zenlake.api.enums import (
    CongestionControl,
    ConsolidationMode,
    Locality,
    Priority,
    QueryTarget,
    Reliability,
    ReplyKeyExpr,
)
from zenlake.api.identifiers import EntityGlobalId, SourceInfo, ZenohId
from zenlake.api.info import SessionInfo
from zenlake.api.liveliness import Liveliness
from zenlake.api.publisher import Publisher, declare_publisher
from zenlake.api.querier import Manner, Querier, declare_querier
from zenlake.api.query_consolidation import QueryConsolidation
from zenlake.api.queryable import Queryable, declare_queryable
from zenlake.api.sealed import no_constructor
from zenlake.api.shell import Shell
from zenlake.api.stamps import TimestampInstrumentation
from zenlake.api.subscriber import Subscriber, declare_subscriber
from zenlake.api.timestamp import Timestamp
from zenlake.errors import ZError
from zenlake.keyexpr import KeyExpr, Selector
from zenlake.session.locality import Locality as CoreLocality
from zenlake.session.open_query import OpenQuery
from zenlake.session.publications import Publication
from zenlake.session.sink import Sink
from zenlake.wire.values.qos import QOS_BYTES

_PUBLICATIONS_MAX: Final = 4_096
_DEFAULT_QOS: Final = QOS_BYTES[5]
_open_sessions: Final[weakref.WeakSet[Session]] = weakref.WeakSet()
_monotonic = time.monotonic


@final
class Session:
    """Made by `open`. The last reference to it closes it, as does a `with` block."""

    __slots__ = ("__weakref__", "_declared_keys", "_publications", "_shell")
    _shell: Shell
    # What `put` and `delete` without options need, by key.
    _publications: dict[str, Publication]
    _declared_keys: dict[str, int]

    def __new__(cls, *_args: object, **_options: object) -> Self:
        no_constructor(cls)

    @classmethod
    def _of(cls, shell: Shell) -> Self:
        made = object.__new__(cls)
        made._shell = shell
        made._publications = {}
        made._declared_keys = {}
        _open_sessions.add(made)
        return made

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_args: object, **_kwargs: object) -> None:
        self.close()

    @property
    def info(self) -> SessionInfo:
        return SessionInfo._of(self._shell)

    @property
    def id(self) -> EntityGlobalId:
        return EntityGlobalId.of_wire(self._shell.core.zid, 1)

    def zid(self) -> ZenohId:
        return ZenohId.of_wire(self._shell.core.zid)

    def close(self) -> None:
        """End all that was declared and asked, and leave the network; twice is fine."""
        _open_sessions.discard(self)
        self._publications.clear()
        self._shell.close()

    def is_closed(self) -> bool:
        return self._shell.core.is_closed

    def __del__(self) -> None:
        # A finalizer may run under the very lock that closing takes.
        shell = self._shell
        if not shell.core.is_closed:
            thread = threading.Thread(target=shell.close, name="zenlake-close", daemon=True)
            # Refused when the interpreter is going down, and the links with it.
            with contextlib.suppress(RuntimeError):
                thread.start()

    def new_timestamp(self) -> Timestamp:
        """The time by this node's clock; works after close too."""
        shell = self._shell
        shell.begin()
        try:
            return Timestamp.of_wire(shell.core.port.new_timestamp())
        finally:
            shell.end()

    def declare_keyexpr(self, key_expr: KeyExpr | str) -> KeyExpr:
        """The key expression; nothing is sent (behaviour reference §3.5)."""
        key = key_text(key_expr)
        self._check()
        self._declared_keys[key] = self._declared_keys.get(key, 0) + 1
        return key_expr_of(key)

    def undeclare(self, obj: Any) -> None:
        """Take back a key expression of `declare_keyexpr`, or anything declared."""
        if not isinstance(obj, KeyExpr):
            obj.undeclare()
            return
        key = str(obj)
        left = self._declared_keys.get(key, 0)
        if not left:
            raise ZError(
                f"Failed to undeclare {key}, make sure you use the result of "
                "`Session::declare_keyexpr` to call `Session::undeclare`, and that "
                "key_expression was not undeclared previously"
            )
        if left == 1:
            del self._declared_keys[key]
        else:
            self._declared_keys[key] = left - 1

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
    ) -> None:
        """Publish a value."""
        publication = self._publication(
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
        self._push(publication, body, timestamp_instrumentation)

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
    ) -> None:
        """Publish that there is no value any more."""
        publication = self._publication(
            key_expr, congestion_control, priority, express, allowed_destination
        )
        body = wire.Del(
            timestamp_of(timestamp), source_info_of(source_info), attachment_of(attachment)
        )
        self._push(publication, body, timestamp_instrumentation)

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
        """Ask; gives the handler through which replies come.

        After `budget` replies the query ends (eclipse-zenoh has no such argument).
        """
        shell = self._shell
        key, parameters = selector_texts(selector)
        manner = Manner(
            key,
            target,
            consolidation,
            accept_replies,
            timeout_ms_of(timeout, shell.core.settings.query_timeout_ms),
            qos_of(congestion_control, priority, express, QUERY_CONGESTION),
            locality(allowed_destination, "allowed_destination"),
        )
        question = manner.question(
            body=body_of(payload, encoding),
            attachment=attachment_of(attachment),
            source_info=source_info_of(source_info),
            stamps=shell.stamps(timestamp_instrumentation),
            budget=budget_of(budget),
        )

        def start(sink: Sink, now: float) -> OpenQuery:
            return shell.core.get(key, parameters, question, sink, now)

        return ask(shell, handler, cancellation_token, start)

    def declare_subscriber(
        self,
        key_expr: KeyExpr | str,
        handler: Any = None,
        *,
        allowed_origin: Locality | None = None,
    ) -> Subscriber[Any]:
        """Receive samples."""
        return declare_subscriber(self._shell, key_expr, handler, allowed_origin)

    def declare_queryable(
        self,
        key_expr: KeyExpr | str,
        handler: Any = None,
        *,
        complete: bool | None = None,
        allowed_origin: Locality | None = None,
    ) -> Queryable[Any]:
        """Answer queries; `complete` promises all there is to say about the key."""
        return declare_queryable(self._shell, key_expr, handler, complete, allowed_origin)

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
        """Publish again and again."""
        return declare_publisher(
            self._shell,
            key_expr,
            encoding,
            congestion_control,
            priority,
            express,
            reliability,
            allowed_destination,
        )

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
        """Ask again and again."""
        return declare_querier(
            self._shell,
            key_expr,
            target,
            consolidation,
            accept_replies,
            timeout,
            congestion_control,
            priority,
            express,
            allowed_destination,
        )

    def liveliness(self) -> Liveliness:
        """Tokens, and who holds them."""
        return Liveliness._of(self._shell)

    def __repr__(self) -> str:
        return f"Session {{ id: {self._shell.core.zid} }}"

    def _check(self) -> None:
        if self._shell.core.is_closed:
            raise ZError("session closed")

    def _publication(
        self,
        key_expr: KeyExpr | str,
        congestion_control: CongestionControl | None,
        priority: Priority | None,
        express: bool | None,
        allowed_destination: Locality | None,
    ) -> Publication:
        """What does not change, remembered where no option was given."""
        key = key_text(key_expr)
        if (
            congestion_control is None
            and priority is None
            and express is None
            and allowed_destination is None
        ):
            found = self._publications.get(key)
            if found is None:
                prepare = self._shell.core.publications.prepare
                found = prepare(key, _DEFAULT_QOS, True, CoreLocality.ANY, None)
                if len(self._publications) >= _PUBLICATIONS_MAX:
                    self._publications.clear()
                self._publications[key] = found
            return found
        qos = qos_of(congestion_control, priority, express, PUT_CONGESTION)
        destination = locality(allowed_destination, "allowed_destination")
        return self._shell.core.publications.prepare(key, qos, True, destination, None)

    def _push(
        self,
        publication: Publication,
        body: wire.Put | wire.Del,
        instrumentation: TimestampInstrumentation | None,
    ) -> None:
        shell = self._shell
        stamps = None if instrumentation is None else shell.stamps(instrumentation)
        shell.begin()
        try:
            shell.core.put(publication, body, stamps, _monotonic())
        finally:
            shell.end()


@atexit.register
def _close_all() -> None:
    """Say goodbye to the network before the interpreter goes."""
    for session in list(_open_sessions):
        # One that cannot close must not keep the others from it.
        with contextlib.suppress(Exception):
            session.close()
