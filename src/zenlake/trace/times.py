"""Times as written in filters: `1.5` seconds after the start, `22:01:42`, or a timestamp."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Final, NamedTuple

from zenlake.errors import LocalError

FORMS: Final = "1.5 (seconds since the first packet), 200ms, 22:01:42.309, or 2026-11-14T22:01:42Z"

_RELATIVE: Final = re.compile(r"(\d{1,12})(?:\.(\d{1,9}))?(s|ms|us|ns)?")
_CLOCK: Final = re.compile(r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?")
_WHOLE: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)"
    r"(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:?\d\d)?)?"
)
_NS_PER_S: Final = 1_000_000_000
_NS_PER_DAY: Final = 86_400 * _NS_PER_S
UNIT_NS: Final = {"s": _NS_PER_S, "ms": 1_000_000, "us": 1_000, "ns": 1}


class CaptureStart:
    """The time of the first packet, which is not known before the capture is read."""

    def __init__(self) -> None:
        self.first_ns: Callable[[], int] = lambda: 0


class WrittenTime(NamedTuple):
    """A time with the precision of its last digit: `span_ns` is the unit of that digit."""

    begin_ns: int
    span_ns: int
    is_since_start: bool = False
    is_since_midnight: bool = False

    def begin(self, first_ns: int) -> int:
        """Nanoseconds since 1970, for a capture that began at `first_ns`."""
        if self.is_since_start:
            return first_ns + self.begin_ns
        if self.is_since_midnight:
            return first_ns - first_ns % _NS_PER_DAY + self.begin_ns
        return self.begin_ns


def parse_time(written: str) -> WrittenTime:
    """Parses a time. A clock time is UTC, as in the output, on the day of the first packet."""
    found = _relative(written) or _clock(written) or _whole(written)
    if found is None:
        raise LocalError(f"{written!r} is not a time: expected {FORMS}")
    return found


def _relative(written: str) -> WrittenTime | None:
    match = _RELATIVE.fullmatch(written)
    if match is None:
        return None
    unit_ns = UNIT_NS[match[3] or "s"]
    digits = match[2] or ""
    begin_ns = int(match[1]) * unit_ns + int(digits or "0") * unit_ns // 10 ** len(digits)
    span_ns = max(1, unit_ns // 10 ** len(digits))
    return WrittenTime(begin_ns, span_ns, is_since_start=True)


def _clock(written: str) -> WrittenTime | None:
    match = _CLOCK.fullmatch(written)
    if match is None:
        return None
    hour, minute, second = int(match[1]), int(match[2]), int(match[3] or "0")
    if hour > 23 or minute > 59 or second > 59:
        return None
    span_ns = _span_ns(match[3], match[4])
    begin_ns = ((hour * 60 + minute) * 60 + second) * _NS_PER_S + _fraction_ns(match[4])
    return WrittenTime(begin_ns, span_ns, is_since_midnight=True)


def _whole(written: str) -> WrittenTime | None:
    match = _WHOLE.fullmatch(written)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(match[n] or "0") for n in range(1, 7))
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=_zone(match[8]))
    except ValueError as error:
        raise LocalError(f"{written!r} is not a time: {error}") from None
    begin_ns = int(moment.timestamp()) * _NS_PER_S + _fraction_ns(match[7])
    span_ns = _NS_PER_DAY if match[4] is None else _span_ns(match[6], match[7])
    return WrittenTime(begin_ns, span_ns)


def _zone(written: str | None) -> timezone:
    if written is None or written == "Z":
        return UTC
    sign = -1 if written[0] == "-" else 1
    return timezone(sign * timedelta(hours=int(written[1:3]), minutes=int(written[-2:])))


def _fraction_ns(digits: str | None) -> int:
    return int((digits or "").ljust(9, "0"))


def _span_ns(second: str | None, digits: str | None) -> int:
    if second is None:
        return 60 * _NS_PER_S
    return int(_NS_PER_S // 10 ** len(digits or ""))
