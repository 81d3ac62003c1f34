"""Time without pauses: where a moment lies."""

from __future__ import annotations

import duckdb
import pytest

from zenlake.report.bounds import BINS_MAX, SEGMENTS_MAX
from zenlake.report.time_axis import TimeAxis

S = 1_000_000_000


def place(axis: TimeAxis, ns: int, parts: int = 1) -> int:
    with duckdb.connect(":memory:") as database:
        sql = f"SELECT {axis.bin_sql('t', parts)} FROM (SELECT {ns}::BIGINT AS t)"
        [(number,)] = database.execute(sql).fetchall()
    return int(number)


def test_one_capture_is_cut_evenly() -> None:
    axis = TimeAxis([(100 * S, 340 * S)])
    assert axis.width_ns == S
    assert axis.bins == BINS_MAX + 1
    assert [place(axis, n * S) for n in (99, 100, 101, 339, 340, 400)] == [0, 0, 1, 239, 240, 240]
    assert axis.seconds == 240
    assert axis.ms(101 * S) == 1000
    assert axis.ms(None) is None


def test_parts_of_a_stretch_are_numbered_through() -> None:
    axis = TimeAxis([(0, 10 * S), (1000 * S, 1010 * S)])
    for ns in (-1, 0, 4 * S + 1, 10 * S, 500 * S, 1000 * S, 1004 * S + 5, 1010 * S, 2000 * S):
        assert place(axis, ns, 64) // 64 == place(axis, ns)
    width = axis.width_ns
    assert [place(axis, 3 * width - (-width * n // 4), 4) for n in range(4)] == [12, 13, 14, 15]
    years = TimeAxis([(0, 9 * 10**18)])
    assert place(years, 9 * 10**18, 64) == years.bins * 64 - 64


def test_a_long_pause_is_left_out_a_short_one_not() -> None:
    axis = TimeAxis([(0, 10 * S), (11 * S, 20 * S), (1000 * S, 1010 * S)])
    assert [(one.first_ns, one.last_ns) for one in axis.segments] == [
        (0, 20 * S),
        (1000 * S, 1010 * S),
    ]
    first, second = axis.segments
    assert second.first_bin == first.bins
    assert place(axis, 1000 * S) == second.first_bin
    assert place(axis, 500 * S) == second.first_bin - 1
    assert place(axis, 1010 * S) == axis.bins - 1


def test_overlapping_captures_are_one_segment() -> None:
    axis = TimeAxis([(5 * S, 9 * S), (0, 10 * S), (8 * S, 12 * S)])
    assert [(one.first_ns, one.last_ns) for one in axis.segments] == [(0, 12 * S)]


@pytest.mark.parametrize("captures", [1, 30, 20_000])
def test_number_of_bins_is_bounded(captures: int) -> None:
    axis = TimeAxis([(n * n * 50 * S, (n * n * 50 + 1) * S) for n in range(captures)])
    assert len(axis.segments) <= SEGMENTS_MAX
    assert axis.bins <= BINS_MAX + SEGMENTS_MAX


def test_a_single_packet_has_a_place() -> None:
    axis = TimeAxis([(7 * S, 7 * S)])
    assert axis.bins == 1
    assert place(axis, 7 * S) == 0
