"""TimeAxis: the recorded time, divided into bins of equal length.

Captures of one lake may lie hours apart. Long pauses between them are not drawn: bins are counted
over recorded time, and each segment has its start time.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from zenlake.lake.measures import recorded_ns, recorded_spans
from zenlake.report.bounds import BINS_MAX, PARTS, SEGMENTS_MAX

_PAUSE_SHARE: Final = 0.2
"""Pauses up to this share of the recorded time are drawn."""
_WIDTH_NS_MIN: Final = 1_000_000


class RecordedSpan(NamedTuple):
    first_ns: int
    last_ns: int
    first_bin: int
    bins: int


class TimeAxis:
    """The axis of some captures, from the times of their first and last packets."""

    def __init__(self, captures: list[tuple[int, int]]) -> None:
        self.seconds = recorded_ns(captures) / 1e9
        """The recorded time without pauses; short pauses are drawn nevertheless."""
        spans = _joined(captures)
        drawn_ns = sum(last - first for first, last in spans)
        self.width_ns = max(_WIDTH_NS_MIN, -(-drawn_ns // BINS_MAX))
        self.segments: list[RecordedSpan] = []
        self.bins = 0
        for first, last in spans:
            count = (last - first) // self.width_ns + 1
            self.segments.append(RecordedSpan(first, last, self.bins, count))
            self.bins += count

    @property
    def origin_ns(self) -> int:
        """The start of the axis; all times in a page are relative to it."""
        return self.segments[0].first_ns

    def ms(self, ns: int | None) -> float | None:
        """Milliseconds since the origin: nanoseconds since 1970 exceed JavaScript's integers."""
        return None if ns is None else round((ns - self.origin_ns) / 1e6, 3)

    def bin_sql(self, column: str, parts: int = 1) -> str:
        """SQL for the bin of a time; times in a pause are in the last bin before it.

        With `parts`, each bin is divided into that many, for zooming.
        """
        cases = []
        for segment, following in zip(self.segments, [*self.segments[1:], None], strict=True):
            since = f"({column} - {segment.first_ns})"
            if parts > 1:
                # A BIGINT would overflow for captures that lie years apart.
                since = f"{since}::HUGEINT * {parts}"
            bounded = f"least({segment.bins * parts - 1}, greatest(0, {since} // {self.width_ns}))"
            value = f"({segment.first_bin * parts} + {bounded})::BIGINT"
            cases.append(
                value if following is None else f"WHEN {column} < {following.first_ns} THEN {value}"
            )
        if len(cases) == 1:
            return cases[0]
        return f"CASE {' '.join(cases[:-1])} ELSE {cases[-1]} END"

    def to_json(self) -> dict[str, Any]:
        return {
            "width": self.width_ns / 1e6,
            "bins": self.bins,
            "parts": PARTS,
            "segments": [[self.ms(one.first_ns), one.first_bin, one.bins] for one in self.segments],
            "originMs": self.origin_ns // 1_000_000,
        }


def _joined(captures: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merges overlapping and near captures; at most SEGMENTS_MAX remain."""
    spans = recorded_spans(captures)
    recorded = sum(last - first for first, last in spans)
    pauses = [(spans[i + 1][0] - spans[i][1], i) for i in range(len(spans) - 1)]
    longest = sorted(pauses, reverse=True)[: SEGMENTS_MAX - 1]
    ends = sorted(i for pause, i in longest if pause > _PAUSE_SHARE * recorded)
    begins = [0, *(i + 1 for i in ends)]
    return [
        (spans[first][0], spans[last][1])
        for first, last in zip(begins, [*ends, len(spans) - 1], strict=True)
    ]
