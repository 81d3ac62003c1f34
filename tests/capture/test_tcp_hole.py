"""Holes in a stream: how long they stay open, and what is held behind them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.capture.tcp_capture import BACK, MASK, MILLISECOND, B, Capture
from zenlake.capture.byte_ranges import PIECE_COST
from zenlake.capture.stream_events import StreamGap
from zenlake.capture.tcp_hole import distance
from zenlake.capture.tcp_streams import TcpStreams
from zenlake.capture.transport import SYN, Ends
from zenlake.limits import (
    TCP_HELD_BYTES_MAX,
    TCP_HOLE_BYTES_MAX,
    TCP_HOLE_SECONDS_MAX,
    TCP_HOLE_SEGMENTS_MAX,
)


def test_a_missing_middle_waits_for_the_end_without_acknowledgement() -> None:
    capture = Capture()
    capture.connect()
    capture.feed(1000, b"abc")
    for i in range(2 * TCP_HOLE_SEGMENTS_MAX):
        assert capture.feed(1100 + i, b"x") == []
    assert capture.end()[:2] == ["> gap 97 missing", "> x"]


def test_an_acknowledged_hole_is_given_up_after_some_segments() -> None:
    capture = Capture()
    capture.connect()
    for i in range(TCP_HOLE_SEGMENTS_MAX - 1):
        assert capture.feed(1100 + i, b"x") == []
    assert capture.feed(5000, ack=1110, ends=BACK) == []
    given_up = capture.feed(5000, ack=1110, ends=BACK)
    assert given_up == ["> gap 100 missing", *["> x"] * (TCP_HOLE_SEGMENTS_MAX - 1)]
    assert capture.feed(1000, b"late") == []
    assert capture.feed(1163, b"on") == ["> on"]


def test_an_acknowledged_hole_is_given_up_after_some_time() -> None:
    capture = Capture()
    capture.connect()
    capture.feed(1100, b"x")
    second = TCP_HOLE_SECONDS_MAX * 1_000_000_000
    assert capture.feed(5000, ack=1099, ends=BACK, later_ns=2 * second) == []
    assert capture.feed(5000, ack=1100, ends=BACK, later_ns=second // 2) == []
    assert capture.feed(5000, ack=1101, ends=BACK, later_ns=second) == ["> gap 100 missing", "> x"]


def test_a_second_hole_has_its_own_time() -> None:
    capture = Capture()
    capture.connect()
    second = TCP_HOLE_SECONDS_MAX * 1_000_000_000
    capture.feed(1010, b"x")
    capture.feed(1020, b"y", later_ns=second // 2)
    capture.feed(1030, b"z", later_ns=2 * second)
    assert capture.feed(5000, ack=1031, ends=BACK, later_ns=second) == ["> gap 10 missing", "> x"]
    assert capture.feed(5000, ack=1031, ends=BACK, later_ns=second) == []
    assert capture.feed(1011, b"filled in", later_ns=second) == ["> filled in", "> y"]
    assert capture.feed(5000, ack=1031, ends=BACK, later_ns=3 * second - 10 * MILLISECOND) == []
    late = capture.feed(5000, ack=1031, ends=BACK, later_ns=3 * second)
    assert late == ["> gap 9 missing", "> z"]


def test_a_hole_is_given_up_when_too_much_is_held() -> None:
    capture = Capture()
    capture.connect()
    size = 8_000
    fits = TCP_HOLE_BYTES_MAX // (size + PIECE_COST)
    for i in range(fits):
        assert capture.feed(2000 + i * size, bytes(size)) == []
    assert capture.feed(2000 + fits * size, bytes(size))[0] == "> gap 1000 missing"
    assert capture.parts() == [(1000, "missing"), bytes((fits + 1) * size)]


def test_all_connections_together_hold_a_bounded_number_of_bytes() -> None:
    streams = TcpStreams(held_bytes_max=50_000)
    captures = [Capture(streams) for _ in range(20)]
    given_up = []
    for i, capture in enumerate(captures):
        ends = Ends(f"10.0.0.1:{i + 1}", B)
        capture.feed(999, flags=SYN, ends=ends)
        given_up += capture.feed(1010, bytes(5_000 - PIECE_COST), ends=ends)
    assert [event for event in given_up if "gap" in event] == ["> gap 10 missing"] * 10
    owners = [e.flow.source for c in captures for e in c.events if isinstance(e, StreamGap)]
    assert owners == [f"10.0.0.1:{i + 1}" for i in range(10)]
    assert TCP_HELD_BYTES_MAX > TCP_HOLE_BYTES_MAX


@given(st.integers(0, MASK), st.integers(-(1 << 31), (1 << 31) - 1))
def test_distances_go_round(seq: int, ahead: int) -> None:
    assert distance((seq + ahead) & MASK, seq) == ahead
