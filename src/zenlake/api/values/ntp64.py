"""`NTP64`: a time since 1970, seconds in the high 32 bits, 1/2**32 s in the low ones."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import total_ordering
from typing import Any, Final, Self, final

from zenlake.api.final_classes import no_subclasses
from zenlake.errors import LocalError
from zenlake.wire.values.timestamp import ntp64_of_ns

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NS_PER_S: Final = 1_000_000_000
_RFC3339: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:)(\d\d)(?:\.(\d*))?Z", re.ASCII)


@final
@no_subclasses
@total_ordering
class NTP64:
    """A point in time; ordered, printed as its 64-bit number."""

    __slots__ = ("_value",)
    _value: int

    def __init__(self, seconds: int, nanos: int) -> None:
        if not isinstance(seconds, int) or not isinstance(nanos, int):
            raise TypeError("seconds and nanoseconds are whole numbers")
        if seconds < 0 or not 0 <= nanos < 1 << 32:
            raise OverflowError("seconds are not negative, nanoseconds fit 32 bits")
        self._value = ntp64_of_ns(seconds * _NS_PER_S + nanos)
        if self._value >> 64:
            raise OverflowError(f"{seconds} seconds do not fit 32 bits")

    @classmethod
    def from_value(cls, value: int) -> Self:
        """The time with this 64-bit number, as messages carry it."""
        made = cls.__new__(cls)
        made._value = value
        return made

    @property
    def value(self) -> int:
        """The number on the wire."""
        return self._value

    def as_secs_f64(self) -> float:
        return (self._value >> 32) + (self._value & 0xFFFF_FFFF) / (1 << 32)

    def as_secs(self) -> int:
        return self._value >> 32

    def as_nanos(self) -> int:
        return self.as_secs() * _NS_PER_S + self.subsec_nanos()

    def subsec_nanos(self) -> int:
        """Rounded up, so that converting nanoseconds to NTP64 and back changes nothing."""
        return -(-(self._value & 0xFFFF_FFFF) * _NS_PER_S >> 32)

    def to_datetime(self) -> datetime:
        """The time as a datetime in UTC, to whole microseconds."""
        return EPOCH + timedelta(microseconds=self.as_nanos() // 1000)

    def to_string_rfc3339_lossy(self) -> str:
        seconds, nanos = divmod(self.as_nanos(), _NS_PER_S)
        return f"{EPOCH + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%S}.{nanos:09}Z"

    @classmethod
    def parse_rfc3339(cls, s: str) -> Self:
        """The time of a text in UTC with `T` and `Z`; digits beyond nanoseconds are dropped."""
        match = _RFC3339.fullmatch(s)
        try:
            if match is None:
                raise ValueError
            # A leap second counts as the one before it.
            second = "59" if match[2] == "60" else match[2]
            instant = datetime.fromisoformat(f"{match[1]}{second}+00:00")
            return cls((instant - EPOCH) // timedelta(seconds=1), _nanos(match[3] or ""))
        except (ValueError, OverflowError):
            raise LocalError(f"Failed to parse '{s}' : invalid RFC3339 format") from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NTP64) and self._value == other._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __lt__(self, other: Any) -> bool:
        return self._value < other._value if isinstance(other, NTP64) else NotImplemented

    def __str__(self) -> str:
        return str(self._value)

    __repr__ = __str__


def _nanos(digits: str) -> int:
    return int(digits[:9].ljust(9, "0"))
