"""`Port`: how the parts of a session reach the node on one side and the application on the other.

`to_network` passes a message to the node's Dispatcher, as over a link that loses nothing.
`to_application` pushes an item into a sink, and notes the sink for `pop_touched`. The `Factory`
makes the items: the session knows messages, the API knows their classes for users.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from zenlake.errors import LocalError
from zenlake.routing.stamps import RECEIVE, SEND
from zenlake.session.namespace import Namespace
from zenlake.session.settings import SessionSettings
from zenlake.session.sink import Sink
from zenlake.wire import (
    Declare,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    Del,
    Encoding,
    NetworkMessage,
    Put,
    QoS,
    ResponderId,
    Timestamp,
    TimestampStack,
    UndeclareQueryable,
    UndeclareSubscriber,
    UndeclareToken,
    ZenohId,
)
from zenlake.wire.values.qos import QOS_BYTES
from zenlake.wire.values.timestamp import ntp64_of_ns

if TYPE_CHECKING:
    from zenlake.routing.dispatcher import Dispatcher
    from zenlake.routing.face import Face
    from zenlake.session.incoming_query import IncomingQuery

OwnDeclaration = (
    DeclareSubscriber
    | UndeclareSubscriber
    | DeclareQueryable
    | UndeclareQueryable
    | DeclareToken
    | UndeclareToken
)

MakeSample = Callable[[str, "Put | Del", "QoS | None", "TimestampStack | None"], object]
MakeOk = Callable[
    [str, "Put | Del", "QoS | None", "TimestampStack | None", "ResponderId | None"], object
]
MakeError = Callable[
    [bytes, "Encoding | None", "TimestampStack | None", "ResponderId | None"], object
]
MakeQuery = Callable[["IncomingQuery", int], object]
MakeStatus = Callable[[bool], object]

# DECLARE and INTEREST are control messages that wait for room (behaviour reference §2.10).
CONTROL_QOS = QOS_BYTES[8]

ADMIN_EID: Final = 2
"""The entity id of the session's admin keys; the session itself is 1 (behaviour reference §2.2)."""


class Factory:
    """Makes the objects of the API from the contents of messages."""

    __slots__ = ("error", "ok", "query", "sample", "status")

    def __init__(
        self, sample: MakeSample, ok: MakeOk, error: MakeError, query: MakeQuery, status: MakeStatus
    ) -> None:
        self.sample = sample
        self.ok = ok
        self.error = error
        self.query = query
        self.status = status


class Port:
    """Both sides of a session, its counters and its namespace."""

    __slots__ = (
        "_eid",
        "_id",
        "counters",
        "dispatcher",
        "face",
        "factory",
        "hlc",
        "namespace",
        "now",
        "settings",
        "touched",
        "wall_ns",
        "zid",
    )

    def __init__(
        self,
        zid: ZenohId,
        dispatcher: Dispatcher,
        factory: Factory,
        wall_ns: Callable[[], int],
        settings: SessionSettings,
    ) -> None:
        self.zid = zid
        self.dispatcher = dispatcher
        self.face: Face | None = None
        self.factory = factory
        self.wall_ns = wall_ns
        self.settings = settings
        self.namespace = Namespace(settings.namespace)
        self.hlc = dispatcher.hlc
        """The node's hybrid logical clock, if timestamping is enabled."""

        self.now = 0.0
        """The time of the last operation or timeout."""

        self.touched: list[Sink] = []
        self.counters: dict[str, int] = {}
        self._eid = ADMIN_EID
        self._id = 0

    def next_eid(self) -> int:
        self._eid += 1
        return self._eid

    def next_id(self) -> int:
        """The next id of a declaration or interest: one counter for all kinds; 0 is reserved."""
        self._id += 1
        return self._id

    def to_network(self, message: NetworkMessage, now: float) -> None:
        face = self.face
        assert face is not None
        self.dispatcher.receive(face, message, True, now)

    def clear_refusal(self) -> None:
        """Clear the error that `raise_refusal` raises, before sending."""
        self.dispatcher.refusal.text = ""

    def raise_refusal(self) -> None:
        """LocalError if a link could not carry what was sent."""
        text = self.dispatcher.refusal.text
        if text:
            raise LocalError(text)

    def declare(self, declaration: OwnDeclaration, now: float) -> None:
        self.to_network(Declare(declaration, qos=CONTROL_QOS), now)

    def to_application(self, sink: Sink, item: object) -> None:
        sink.push(item)
        if not self.touched or self.touched[-1] is not sink:
            self.touched.append(sink)

    def all_to_application(self, sink: Sink, items: list[object], size: int) -> None:
        """Push several items at once, with their bytes as handlers count them."""
        sink.push_all(items, size)
        if not self.touched or self.touched[-1] is not sink:
            self.touched.append(sink)

    def close(self, sink: Sink) -> None:
        sink.close()
        self.touched.append(sink)

    def count(self, what: str, times: int = 1) -> None:
        self.counters[what] = self.counters.get(what, 0) + times

    def adopt(self, sink: Sink) -> None:
        """Count what a new sink drops in the session's counters."""
        sink.count_in(self.counters)

    def new_timestamp(self) -> Timestamp:
        """A timestamp of the node's clock, or of the wall clock (behaviour reference §2.11)."""
        ntp64 = ntp64_of_ns(self.wall_ns())
        return Timestamp(ntp64, self.zid) if self.hlc is None else self.hlc.new(ntp64)

    def stamp_sent(self, stack: TimestampStack) -> TimestampStack:
        return self.dispatcher.stamper.stamp(stack, SEND)

    def stamp_received(self, stack: TimestampStack) -> TimestampStack:
        return self.dispatcher.stamper.stamp(stack, RECEIVE)
