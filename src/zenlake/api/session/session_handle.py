"""`SessionHandle`: the node, the core and the node's lock, shared by all objects of a session.

Every operation is one call of the core, `with session.locked` or, where every microsecond counts,
between `begin` and `end`. `end` releases the lock, sends the messages that the core queued for
links, and calls `after_unlock` of the sinks that got items: all code that may block, and all code
of users, runs there.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol

from zenlake import wire
from zenlake.api.publication.matching_status import make_status
from zenlake.api.publication.sample import make_sample
from zenlake.api.query.reply import make_error, make_ok
from zenlake.api.session.uninterruptible import run_uninterruptible
from zenlake.api.values.timestamp_stack import TimestampCallback, TimestampInstrumentation
from zenlake.errors import ZError
from zenlake.forks import InheritedError, inherited_text, leave_to_parent_after_fork
from zenlake.node.node_lock import Locked
from zenlake.session import Factory, SessionCore, SessionSettings
from zenlake.session.core import Entity
from zenlake.session.incoming_query import IncomingQuery
from zenlake.session.lost_queries import LostQuery
from zenlake.session.publications import Publication
from zenlake.session.sink import Sink

if TYPE_CHECKING:
    from zenlake.api.query.query import Query
    from zenlake.node.events import Events
    from zenlake.node.info import LinkInfo, TransportInfo
    from zenlake.routing.dispatcher import Dispatcher

_log: Final = logging.getLogger("zenlake.session")
_monotonic = time.monotonic


class NodeLike(Protocol):
    """The part of `Node` that a session uses."""

    @property
    def zid(self) -> wire.ZenohId: ...
    @property
    def dispatcher(self) -> Dispatcher: ...
    @property
    def events(self) -> Events: ...
    def add_session(self, session: SessionCore) -> None: ...
    def transports(self) -> list[TransportInfo]: ...
    def links(self) -> list[LinkInfo]: ...
    def stats(self) -> dict[str, int]: ...
    def close(self) -> None: ...
    def wake_timer(self) -> None: ...
    def begin(self) -> None: ...
    def end(self) -> None: ...
    def end_reply(self) -> None: ...


class SessionHandle:
    """An open session. The user's `Session` refers to it, and closes it when it is collected."""

    __slots__ = (
        "__weakref__",
        "_timestamp_callback",
        "begin",
        "core",
        "end",
        "end_reply",
        "is_inherited",
        "locked",
        "node",
        "other_sinks",
    )

    def __init__(
        self,
        node: NodeLike,
        settings: SessionSettings,
        timestamp_callback: TimestampCallback | None = None,
    ) -> None:
        from zenlake.api.network.session_admin_keys import SessionAdminKeys
        from zenlake.api.query.query import Query

        def make_query(incoming: IncomingQuery, eid: int) -> Query:
            return Query(self, incoming, eid)

        factory = Factory(make_sample, make_ok, make_error, make_query, make_status)
        self.node = node
        self.begin: Callable[[], None] = node.begin
        self._timestamp_callback = timestamp_callback
        if timestamp_callback is not None:
            self.begin = self._begin_outside_callback
        self.end = node.end
        self.end_reply = node.end_reply
        self.locked = Locked(self.begin, self.end)
        with Locked(node.begin, node.end):
            self.core = SessionCore(
                node.zid, node.dispatcher, factory, time.time_ns, settings, _warn_of_lost_queries
            )
            node.add_session(self.core)
        self.is_inherited = False  # whether it belongs to the parent of this process
        # Sinks of listeners that the core does not know; they are closed with the session too.
        self.other_sinks: set[Sink] = set()
        self.core.on_admin_key = SessionAdminKeys(self).begin
        leave_to_parent_after_fork(self)

    def _begin_outside_callback(self) -> None:
        """Raise if the timestamp callback is the caller: it runs under the node's lock."""
        assert self._timestamp_callback is not None
        self._timestamp_callback.check_outside()
        self.node.begin()

    def put(
        self,
        publication: Publication,
        body: wire.Put | wire.Del,
        instrumentation: TimestampInstrumentation | None,
    ) -> None:
        stamps = None if instrumentation is None else self.stamps(instrumentation)
        self.begin()
        try:
            self.core.put(publication, body, stamps, _monotonic())
        finally:
            self.end()

    def check_process(self) -> None:
        """Raise in a forked child, for operations that do not call `begin`, which raises too."""
        if self.is_inherited:
            raise InheritedError(inherited_text())

    def check_open(self) -> None:
        self.check_process()
        if self.core.is_closed:
            raise ZError("session closed")

    def undeclare(self, entity: Entity) -> None:
        if self.is_inherited:  # a `with` block ends in a forked child too
            return
        with self.locked:
            self.core.undeclare(entity, time.monotonic())

    def finish_later(self, entity: Entity | LostQuery) -> None:
        """Have the timer undeclare an entity: a finalizer may run while the lock is held."""
        if not self.core.is_closed:
            self.core.lost.append(entity)
            self.node.wake_timer()

    def stamps(
        self, instrumentation: TimestampInstrumentation | None
    ) -> wire.TimestampStack | None:
        """The empty stack of a message about to be sent."""
        return None if instrumentation is None else wire.TimestampStack(instrumentation.points, ())

    def leave_to_parent(self) -> None:
        """Make every operation of a forked child an error, except `close`, which does nothing."""
        self.is_inherited = True
        text = inherited_text()
        for sink in self.other_sinks:
            sink.leave_to_parent(text)
        self.core.leave_to_parent(text)

    def close(self) -> None:
        if self.is_inherited:
            return
        self.begin()  # in case Ctrl-C interrupted this thread between `begin` and `end`
        self.end()
        run_uninterruptible(self._close)

    def _close(self) -> None:
        with self.locked:
            self.core.close()
        self.node.close()
        for sink in list(self.other_sinks):
            sink.close()
            sink.after_unlock()
        self.other_sinks.clear()

    def close_later(self) -> None:
        """Close in another thread: a finalizer may run while the lock to close is held."""
        if not self.core.is_closed:
            thread = threading.Thread(target=self.close, name="zenlake-close", daemon=True)
            # An exiting interpreter starts no threads; it closes the links anyway.
            with contextlib.suppress(RuntimeError):
                thread.start()


def _warn_of_lost_queries(text: str) -> None:
    _log.warning(text)
    # A filter may turn the warning into an error, which no code could handle here.
    with contextlib.suppress(ResourceWarning):
        warnings.warn(text, ResourceWarning, stacklevel=2)
