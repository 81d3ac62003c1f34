"""`TimeRange`: the value of the selector parameter `_time`.

    range    := ldel [expr] ".." [expr] rdel  |  ldel expr ";" duration rdel
    expr     := "now(" [["-"] duration] ")"   |  RFC 3339 instant in UTC
    duration := float [unit]                     unit: u ms s m h d w, without one seconds
    ldel     := "[" inclusive | "]" exclusive    rdel: "]" inclusive | "[" exclusive

A range may be relative to "now", which means the moment of evaluation at the node that
stores the data. This module has no clock: the caller passes the time. All times are
integers, in nanoseconds since 1970-01-01T00:00:00Z.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from zenlake.errors import KeyExprError
from zenlake.limits import KEY_EXPR_BYTES_MAX

_SECOND_NS: Final = 1_000_000_000
_UNIT_NS: Final = {
    "u": 1_000,
    "ms": 1_000_000,
    "": _SECOND_NS,
    "s": _SECOND_NS,
    "m": 60 * _SECOND_NS,
    "h": 3_600 * _SECOND_NS,
    "d": 86_400 * _SECOND_NS,
    "w": 604_800 * _SECOND_NS,
}
_DURATION: Final = re.compile(
    r"(?P<number>\+?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)(?P<unit>ms|[usmhdw]|)"
)
_INSTANT: Final = re.compile(
    r"(?P<second>[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2})"
    r"(?:\.(?P<fraction>[0-9]+))?Z?"
)
_EPOCH: Final = datetime(1970, 1, 1)


def _since_epoch(moment: datetime) -> int:
    """The nanoseconds from 1970 to a whole second in UTC."""
    return (moment - _EPOCH) // timedelta(seconds=1) * _SECOND_NS


_FIRST_NS: Final = _since_epoch(datetime.min)
_LAST_NS: Final = _since_epoch(datetime.max) + _SECOND_NS - 1
"""The first and the last instant whose year can be written with four digits."""


@dataclass(frozen=True)
class TimeBound:
    """One end of a range: an instant, or an offset from the moment of evaluation."""

    time_ns: int
    from_now: bool
    inclusive: bool

    def resolve(self, now_ns: int) -> TimeBound:
        """The same bound as an instant, kept within the years a date can be written in."""
        time_ns = self.time_ns + now_ns if self.from_now else self.time_ns
        return TimeBound(min(max(time_ns, _FIRST_NS), _LAST_NS), False, self.inclusive)

    def __str__(self) -> str:
        if not self.from_now:
            return _render_instant(self.time_ns)
        return f"now({_render_seconds(self.time_ns)}s)" if self.time_ns else "now()"


@dataclass(frozen=True)
class TimeRange:
    """The times between two bounds; None is no bound."""

    start: TimeBound | None
    end: TimeBound | None

    @classmethod
    def parse(cls, text: str) -> TimeRange:
        """Read `text`; raises `KeyExprError` with the position of what is wrong."""
        if len(text) > KEY_EXPR_BYTES_MAX:
            raise KeyExprError(text, KEY_EXPR_BYTES_MAX, "too long for a time range")
        if text[:1] not in ("[", "]"):
            raise KeyExprError(text, 0, "a time range starts with `[` or `]`")
        last = len(text) - 1
        if last == 0 or text[last] not in "[]":
            raise KeyExprError(text, last, "a time range ends with `[` or `]`")
        starts_inclusive = text[0] == "["
        ends_inclusive = text[last] == "]"
        middle = text.find("..", 1, last)
        if middle >= 0:
            return cls(
                _parse_bound(text, 1, middle, starts_inclusive),
                _parse_bound(text, middle + 2, last, ends_inclusive),
            )
        middle = text.find(";", 1, last)
        if middle < 0:
            raise KeyExprError(text, 1, "a time range needs `..` or `;`")
        start = _parse_bound(text, 1, middle, starts_inclusive)
        if start is None:
            raise KeyExprError(text, 1, "a duration needs a start")
        end_ns = start.time_ns + _parse_duration(text, middle + 1, last)
        if not start.from_now and end_ns > _LAST_NS:
            raise KeyExprError(text, middle + 1, "the range ends after the year 9999")
        return cls(start, TimeBound(end_ns, start.from_now, ends_inclusive))

    def resolve(self, now_ns: int) -> TimeRange:
        """The same range with every `now(...)` replaced by an instant."""
        return TimeRange(
            None if self.start is None else self.start.resolve(now_ns),
            None if self.end is None else self.end.resolve(now_ns),
        )

    def contains(self, instant_ns: int, now_ns: int) -> bool:
        """Whether the instant belongs to the range when evaluated at `now_ns`."""
        if self.start is not None:
            start = self.start.resolve(now_ns)
            if instant_ns < start.time_ns or (instant_ns == start.time_ns and not start.inclusive):
                return False
        if self.end is not None:
            end = self.end.resolve(now_ns)
            if instant_ns > end.time_ns or (instant_ns == end.time_ns and not end.inclusive):
                return False
        return True

    def __str__(self) -> str:
        opening = "[" if self.start is None or self.start.inclusive else "]"
        closing = "]" if self.end is None or self.end.inclusive else "["
        return f"{opening}{self.start or ''}..{self.end or ''}{closing}"


def _parse_bound(text: str, start: int, end: int, inclusive: bool) -> TimeBound | None:
    if start == end:
        return None
    if text.startswith("now(", start):
        if text[end - 1] != ")":
            raise KeyExprError(text, end - 1, "`now(` needs `)`")
        return TimeBound(_parse_offset(text, start + 4, end - 1), True, inclusive)
    return TimeBound(_parse_instant(text, start, end), False, inclusive)


def _parse_offset(text: str, start: int, end: int) -> int:
    if start == end:
        return 0
    if text[start] == "-":
        return -_parse_duration(text, start + 1, end)
    return _parse_duration(text, start, end)


def _parse_duration(text: str, start: int, end: int) -> int:
    match = _DURATION.fullmatch(text, start, end)
    if match is None:
        raise KeyExprError(text, start, "not a duration: a number, then u, ms, s, m, h, d or w")
    duration = Decimal(match["number"]) * _UNIT_NS[match["unit"]]
    if duration > _LAST_NS - _FIRST_NS:
        raise KeyExprError(text, start, "a duration of more than ten thousand years")
    return round(duration)


def _parse_instant(text: str, start: int, end: int) -> int:
    match = _INSTANT.fullmatch(text, start, end)
    if match is None:
        raise KeyExprError(text, start, "neither `now(...)` nor an RFC 3339 instant in UTC")
    # A leap second is valid, but `datetime` cannot represent it: the second before is used.
    second_text = re.sub(":60$", ":59", match["second"])
    try:
        second = datetime.fromisoformat(second_text)
    except ValueError as error:
        raise KeyExprError(text, start, str(error)) from None
    fraction_ns = int((match["fraction"] or "").ljust(9, "0")[:9])
    return _since_epoch(second) + fraction_ns


def _render_instant(time_ns: int) -> str:
    seconds, fraction_ns = divmod(time_ns, _SECOND_NS)
    second = (_EPOCH + timedelta(seconds=seconds)).isoformat(timespec="seconds")
    return f"{second}.{fraction_ns:09}Z" if fraction_ns else f"{second}Z"


def _render_seconds(time_ns: int) -> str:
    """Nanoseconds as seconds, without needless zeros."""
    sign = "-" if time_ns < 0 else ""
    seconds, fraction_ns = divmod(abs(time_ns), _SECOND_NS)
    return f"{sign}{seconds}.{fraction_ns:09}".rstrip("0").rstrip(".")
