"""Timestamp stacks: times that nodes add to a message on its way (unstable).

On the wire a stack is a byte with the requested points (bit 0 send, 1 route, 2 receive) and
records: a byte (the bit of the point, bit 7 for a custom stamp) and the time as bytes (wire
reference §2.4).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import get_ident
from typing import Final, Self, final

from zenlake import wire
from zenlake.api.final_classes import NoConstructor, no_subclasses
from zenlake.api.values.enums import InterceptionPoint, WhatAmI
from zenlake.api.values.identifiers import ZenohId
from zenlake.api.values.timestamp import Timestamp
from zenlake.errors import LocalError, WireError
from zenlake.wire.primitives import Malformed
from zenlake.wire.values.timestamp import read_timestamp

CUSTOM_FLAG: Final = 0x80
_log: Final = logging.getLogger("zenlake.session")


def point_bit(point: InterceptionPoint) -> int:
    """The bit of a point, in the requested points and in a record."""
    return 1 << int(point)


@final
@no_subclasses
class TimestampContext(NoConstructor):
    """The argument of the callback of `open(timestamp_callback=...)`: the node that stamps."""

    __slots__ = ("_whatami", "_zid")
    _zid: ZenohId
    _whatami: WhatAmI

    @classmethod
    def from_wire(cls, zid: wire.ZenohId, whatami: wire.WhatAmI) -> Self:
        made = object.__new__(cls)
        made._zid, made._whatami = ZenohId.from_wire(zid), WhatAmI.from_number(int(whatami))
        return made

    @property
    def zid(self) -> ZenohId:
        return self._zid

    @property
    def whatami(self) -> WhatAmI:
        return self._whatami

    def __repr__(self) -> str:
        return f"TimestampContext(zid={self._zid}, whatami={self._whatami!r})"


@final
class TimestampCallback:
    """Calls the user's function of `open(timestamp_callback=...)`, under the node's lock."""

    __slots__ = ("_function", "_thread")

    def __init__(self, function: Callable[[TimestampContext], bytes]) -> None:
        self._function = function
        self._thread: int | None = None

    def __call__(self, zid: wire.ZenohId, whatami: wire.WhatAmI) -> bytes:
        """The time as bytes; empty if the function failed: then nothing is recorded."""
        self._thread = get_ident()
        try:
            made = self._function(TimestampContext.from_wire(zid, whatami))
            return bytes(memoryview(made))
        except Exception:
            _log.exception("the timestamp callback failed; nothing is recorded")
            return b""
        finally:
            self._thread = None

    def check_outside(self) -> None:
        """Raise if the current thread is executing the function."""
        if self._thread == get_ident():
            raise LocalError("a timestamp callback may not use the session it belongs to")


@final
@no_subclasses
class TimestampInstrumentation(NoConstructor):
    """The points at which nodes are asked to stamp."""

    __slots__ = ("_points",)
    _points: int

    @classmethod
    def from_points(cls, points: int) -> Self:
        """The points whose bits are set in the byte of a message."""
        made = object.__new__(cls)
        made._points = points
        return made

    @property
    def points(self) -> int:
        """The bits on the wire."""
        return self._points

    def is_instrumented(self, point: InterceptionPoint) -> bool:
        return self._points & point_bit(point) != 0

    def __repr__(self) -> str:
        return f"TimestampInstrumentation {{ conf_flags: {self._points} }}"


@final
@no_subclasses
class TimestampInstrumentationBuilder:
    """Immutable: each `set_` method returns a new builder."""

    __slots__ = ("_points",)

    def __init__(self) -> None:
        self._points = 0

    def set_send(self, enabled: bool) -> Self:
        return self._set(InterceptionPoint.SEND, enabled)

    def set_route(self, enabled: bool) -> Self:
        return self._set(InterceptionPoint.ROUTE, enabled)

    def set_receive(self, enabled: bool) -> Self:
        return self._set(InterceptionPoint.RECEIVE, enabled)

    def _set(self, point: InterceptionPoint, enabled: bool) -> Self:
        if not isinstance(enabled, bool):
            raise TypeError(f"argument 'enabled': expected True or False, not {enabled!r}")
        builder = type(self)()
        rest = self._points & ~point_bit(point)
        builder._points = rest | (point_bit(point) if enabled else 0)
        return builder

    def build(self) -> TimestampInstrumentation:
        if not self._points:
            raise LocalError("Invalid instrumentation config: at least one point must be active")
        return TimestampInstrumentation.from_points(self._points)


@final
@no_subclasses
class TimestampStackRecord(NoConstructor):
    """One stamp: its point and its time."""

    __slots__ = ("_wire",)
    _wire: wire.StampRecord

    @classmethod
    def from_wire(cls, record: wire.StampRecord) -> Self:
        made = object.__new__(cls)
        made._wire = record
        return made

    @property
    def point(self) -> InterceptionPoint:
        """The first of the points whose bit is set."""
        flags = self._wire.flags
        if flags & 1:
            return InterceptionPoint.SEND
        return InterceptionPoint.ROUTE if flags & 2 else InterceptionPoint.RECEIVE

    @property
    def is_custom(self) -> bool:
        """Whether the stamp is a callback's bytes instead of a `Timestamp`."""
        return self._wire.flags & CUSTOM_FLAG != 0

    def timestamp(self) -> Timestamp | bytes:
        raw = self._wire.time
        if self.is_custom:
            return raw
        try:
            return Timestamp.from_wire(read_timestamp(raw, 0, len(raw))[0])
        except (IndexError, Malformed) as error:
            raise WireError("StampRecord", "time", 0, str(error) or "too short") from None

    def __repr__(self) -> str:
        what = (
            f"Custom({list(self._wire.time)})" if self.is_custom else f"UHLC({self.timestamp()!r})"
        )
        point = str(self.point).partition(".")[2].capitalize()
        return f"TimestampStackRecord {{ point: {point}, timestamp: {what} }}"


@final
@no_subclasses
class TimestampStack(NoConstructor):
    """All stamps of a received message, in the order in which they were added."""

    __slots__ = ("_wire",)
    _wire: wire.TimestampStack

    @classmethod
    def from_wire(cls, stack: wire.TimestampStack) -> Self:
        made = object.__new__(cls)
        made._wire = stack
        return made

    @property
    def instrumentation(self) -> TimestampInstrumentation:
        return TimestampInstrumentation.from_points(self._wire.points)

    @property
    def records(self) -> list[TimestampStackRecord]:
        return [TimestampStackRecord.from_wire(record) for record in self._wire.records]

    def __repr__(self) -> str:
        return (
            f"TimestampStack {{ instrumentation: {self.instrumentation}, records: {self.records} }}"
        )
