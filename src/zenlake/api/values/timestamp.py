"""`Timestamp` and `TimestampId`: a time and the clock it comes from (behaviour reference §2.11)."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import total_ordering
from typing import Any, Final, Self, final

from zenlake import wire
from zenlake.api.final_classes import no_subclasses
from zenlake.api.values.ntp64 import EPOCH, NTP64
from zenlake.api.values.wire_value import WireValue
from zenlake.errors import LocalError

_MICROSECOND: Final = timedelta(microseconds=1)


@final
@no_subclasses
class TimestampId(WireValue[wire.ZenohId]):
    """The id of a clock, 1 to 16 bytes; ordered as bytes, printed as a number."""

    __slots__ = ()

    def __init__(self, bytes: bytearray | bytes) -> None:
        if not isinstance(bytes, _BYTES):
            raise TypeError(f"an id is bytes, not {type(bytes).__name__}")
        raw = _BYTES[0](bytes).rstrip(b"\0")
        if not 1 <= len(raw) <= 16:
            raise LocalError(f"an id has 1 to 16 bytes, not {len(raw)}")
        self._wire = wire.ZenohId(raw)

    def __bytes__(self) -> bytes:
        return self._wire.raw

    def __lt__(self, other: Any) -> bool:
        if not isinstance(other, TimestampId):
            return NotImplemented
        return self._wire.raw < other._wire.raw

    def __le__(self, other: Any) -> bool:
        if not isinstance(other, TimestampId):
            return NotImplemented
        return self._wire.raw <= other._wire.raw


@final
@no_subclasses
@total_ordering
class Timestamp(WireValue[wire.Timestamp]):
    """A time and the id of its clock; ordered by both."""

    __slots__ = ()

    def __init__(self, time: datetime | NTP64, id: bytearray | bytes | TimestampId) -> None:
        clock = id if isinstance(id, TimestampId) else TimestampId(id)
        self._wire = wire.Timestamp(_ntp64(time).value, clock.wire)

    def get_time(self) -> datetime:
        """The time as a datetime in UTC, to whole microseconds."""
        return self.get_time_as_ntp64().to_datetime()

    def get_time_as_ntp64(self) -> NTP64:
        return NTP64.from_value(self._wire.time)

    def get_id(self) -> TimestampId:
        return TimestampId.from_wire(self._wire.id)

    def get_diff_duration(self, other: Timestamp) -> timedelta:
        """The time since `other`; negative if this timestamp is earlier."""
        difference = self._wire.time - other._wire.time
        micros = NTP64.from_value(abs(difference)).as_nanos() // 1000
        return timedelta(microseconds=micros if difference >= 0 else -micros)

    def to_string_rfc3339_lossy(self) -> str:
        return f"{self.get_time_as_ntp64().to_string_rfc3339_lossy()}/{self._wire.id}"

    @classmethod
    def parse_rfc3339(cls, s: str) -> Self:
        """The timestamp of a text `<RFC3339 time>/<id>`."""
        time, slash, zid = s.partition("/")
        if not slash:
            raise LocalError(f"No '/' found in '{s}'")
        ntp64 = NTP64.parse_rfc3339(time)
        return cls.from_wire(wire.Timestamp(ntp64.value, wire.ZenohId.parse(zid.lower())))

    def __lt__(self, other: Any) -> bool:
        if not isinstance(other, Timestamp):
            return NotImplemented
        one, two = self._wire, other._wire
        return (one.time, one.id.raw) < (two.time, two.id.raw)


_BYTES: Final = (bytes, bytearray)


def _ntp64(time: datetime | NTP64) -> NTP64:
    if isinstance(time, NTP64):
        return time
    if not isinstance(time, datetime):
        raise TypeError("expected a `datetime` or a `NTP64`")
    since = time - EPOCH  # a TypeError for a time without a zone, as everywhere in Python
    if since < timedelta(0):
        raise ValueError(f"{time} is before 1970")
    micros = since // _MICROSECOND
    return NTP64(micros // 1_000_000, micros % 1_000_000 * 1000)
