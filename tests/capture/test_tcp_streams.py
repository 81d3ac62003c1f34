"""Reassembly of captured segments, which are late, duplicated, cut or missing."""

from __future__ import annotations

import gc
import tracemalloc
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.capture.tcp_capture import BACK, MASK, MILLISECOND, NAME, OUT, A, B, Capture
from tests.chance import IS_FULL
from zenlake.capture.stream_events import (
    StreamBytes,
    StreamClosed,
    StreamEvent,
    StreamGap,
    StreamOpened,
)
from zenlake.capture.tcp_streams import TcpStreams
from zenlake.capture.transport import ACK, FIN, RST, SYN, Ends, Segment
from zenlake.limits import (
    TCP_FLOWS_MAX,
    TCP_HOLE_BYTES_MAX,
    TCP_HOLE_SEGMENTS_MAX,
    TCP_NEW_FLOWS_MAX,
)


def test_a_connection_is_followed_from_syn_to_fin() -> None:
    capture = Capture()
    assert capture.feed(999, flags=SYN) == [f"> opened {NAME}#1"]
    assert capture.feed(4999, flags=SYN | ACK, ack=1000, ends=BACK) == [f"< opened {NAME}#1"]
    assert capture.feed(1000, ack=5000) == []
    assert capture.feed(1000, b"hello") == ["> hello"]
    assert capture.feed(5000, b"hi", ack=1005, ends=BACK) == ["< hi"]
    assert capture.feed(1005, b" you", FIN | ACK) == [">  you", "> closed fin"]
    assert capture.feed(5002, b"bye", ends=BACK) == ["< bye"]
    assert capture.feed(5005, flags=FIN | ACK, ends=BACK) == ["< closed fin"]
    assert capture.feed(1010, flags=ACK) == []
    assert capture.end() == []
    assert not capture.streams.skipped
    first = next(event for event in capture.events if isinstance(event, StreamBytes))
    assert (first.number, first.time_ns) == (4, 4 * MILLISECOND)
    assert (first.flow.source, first.flow.destination) == (A, B)


def test_bytes_in_a_syn_and_behind_its_copy() -> None:
    capture = Capture()
    assert capture.feed(999, b"early", SYN) == [f"> opened {NAME}#1", "> early"]
    assert capture.feed(999, b"early", SYN) == []
    assert capture.feed(1005, b" on") == [">  on"]


def test_held_bytes_have_the_number_of_the_packet_that_filled_the_hole() -> None:
    capture = Capture()
    capture.connect()
    assert capture.feed(1006, b"ghi") == []
    assert capture.feed(1003, b"def") == []
    assert capture.feed(1000, b"abc") == ["> abc", "> def", "> ghi"]
    events = [event for event in capture.events if isinstance(event, StreamBytes)]
    assert {(event.number, event.time_ns) for event in events} == {(6, 6 * MILLISECOND)}


def test_the_same_packet_twice_counts_once() -> None:
    capture = Capture()
    for seq, data, flags in ((999, b"", SYN), (1000, b"ab", ACK), (1002, b"c", FIN | ACK)):
        capture.feed(seq, data, flags)
        assert capture.feed(seq, data, flags) == []
    assert capture.parts() == [b"abc"]
    assert capture.streams.skipped.bytes == {
        "TCP bytes seen before": 2,
        "TCP bytes after the end": 1,
    }


def test_the_first_copy_wins_and_conflicts_are_counted() -> None:
    capture = Capture()
    capture.connect()
    capture.feed(1004, b"efgh")
    capture.feed(1002, b"cdEFghij")
    assert capture.feed(1000, b"abCD") == ["> ab", "> cd", "> efgh", "> ij"]
    assert capture.streams.skipped.bytes == {
        "TCP bytes seen before": 4 + 2,
        "TCP bytes in conflict": 2 + 2,
    }


def test_keep_alive_probes_are_ignored() -> None:
    capture = Capture()
    capture.connect()
    capture.feed(1000, b"ab")
    assert capture.feed(1001, b"\0") == []
    assert capture.feed(1001) == []
    assert capture.feed(1002, b"cd") == ["> cd"]
    assert capture.streams.skipped.counts == {"TCP keep-alive": 1}


def test_a_capture_that_starts_in_the_middle() -> None:
    capture = Capture()
    assert capture.feed(5000, b"in", ack=7, ends=BACK) == [
        f"> opened {B}-{A}#0 without SYN",
        "> in",
    ]
    assert capture.feed(7, ack=5002) == [f"< opened {B}-{A}#0 without SYN"]
    assert capture.feed(7, b"out") == ["< out"]
    assert capture.feed(4000, b"old", ends=BACK) == []
    assert capture.end() == ["> closed end", "< closed end"]


@pytest.mark.parametrize("offset", [1, -3])
def test_an_acknowledgement_does_not_fix_the_start_of_a_stream(offset: int) -> None:
    capture = Capture()
    assert capture.feed(5000) == [f"> opened {NAME}#0 without SYN"]
    assert capture.feed(5000 + offset, b"abc") == ["> abc"]
    assert capture.feed(5003 + offset, b"def") == ["> def"]


def test_acknowledgement_replaces_a_missing_syn_of_the_other_side() -> None:
    capture = Capture()
    capture.feed(999, flags=SYN)
    capture.feed(1000, ack=5000)
    assert capture.feed(5003, b"def", ends=BACK) == [f"< opened {NAME}#1 without SYN"]
    assert capture.feed(5000, b"abc", ends=BACK) == ["< abc", "< def"]


def test_the_answer_to_a_syn_names_the_connection_too() -> None:
    capture = Capture()
    assert capture.feed(4999, flags=SYN | ACK, ack=1000, ends=BACK) == [f"< opened {NAME}#1"]
    assert capture.feed(1000, b"ab", ack=5000) == [f"> opened {NAME}#1 without SYN", "> ab"]


def test_a_snap_length_leaves_gaps_where_the_bytes_were() -> None:
    capture = Capture()
    capture.connect()
    assert capture.feed(1000, b"abc", missing=97) == ["> abc", "> gap 97 snaplen"]
    assert capture.feed(1150, b"ghi", missing=7) == []
    assert capture.feed(1100, b"def", missing=47) == [
        "> def",
        "> gap 47 snaplen",
        "> ghi",
        "> gap 7 snaplen",
    ]
    assert capture.feed(1160, b"", FIN | ACK, missing=5) == ["> gap 5 snaplen", "> closed fin"]


def test_a_fin_waits_for_the_bytes_before_it() -> None:
    capture = Capture()
    capture.connect()
    assert capture.feed(1003, b"def", FIN | ACK) == []
    assert capture.feed(1000, b"abc") == ["> abc", "> def", "> closed fin"]


def test_a_fin_behind_a_hole_fixes_the_size_of_the_hole() -> None:
    capture = Capture()
    capture.connect()
    assert capture.feed(1010, flags=FIN | ACK) == []
    assert capture.end() == ["> gap 10 missing", "> closed fin", "< closed end"]


def test_bytes_behind_a_fin_are_dropped() -> None:
    capture = Capture()
    capture.connect()
    capture.feed(1005, b"fghij", FIN | ACK)
    capture.feed(1010, b"beyond")
    assert capture.feed(1000, b"abcde") == ["> abcde", "> fghij", "> closed fin"]
    capture.feed(5010, flags=FIN | ACK, ends=BACK)
    capture.feed(5020, b"beyond", ends=BACK)
    assert capture.end() == ["< gap 10 missing", "< closed fin"]
    assert capture.streams.skipped.bytes == {"TCP bytes after the end": 12}


def test_a_reset_delivers_held_bytes() -> None:
    capture = Capture()
    capture.connect()
    capture.feed(1003, b"def")
    capture.feed(5001, b"back", ack=1000, ends=BACK)
    assert capture.feed(1006, flags=RST) == [
        "> gap 3 missing",
        "> def",
        "> closed rst",
        "< gap 1 missing",
        "< back",
        "< closed rst",
    ]
    assert capture.feed(1006, b"late") == []
    assert capture.end() == []


def test_a_reset_with_a_distant_sequence_number_is_counted() -> None:
    capture = Capture()
    capture.connect()
    assert capture.feed(1000 + TCP_HOLE_BYTES_MAX + 1, flags=RST) == []
    assert capture.feed(1000, b"on") == ["> on"]
    assert capture.streams.skipped.counts == {"TCP reset out of place": 1}
    assert Capture().feed(5, flags=RST) == []


def test_bytes_that_only_the_receiver_saw_are_missing_at_the_end() -> None:
    capture = Capture()
    capture.connect()
    capture.feed(5000, ack=1021, ends=BACK)
    capture.feed(1000, ack=5001)
    assert capture.end() == [
        "> gap 21 missing",
        "> closed end",
        "< gap None missing",
        "< closed end",
    ]


def test_a_new_syn_begins_a_new_connection() -> None:
    capture = Capture()
    capture.connect()
    capture.feed(1003, b"def")
    assert capture.feed(999, flags=SYN) == []
    assert capture.feed(777_000, flags=SYN) == [
        "> gap 3 missing",
        "> def",
        "> closed reused",
        "< closed reused",
        f"> opened {NAME}#2",
    ]
    assert capture.feed(777_001, b"new") == ["> new"]
    capture.feed(777_004, flags=RST)
    assert capture.feed(123, flags=SYN) == [f"> opened {NAME}#3"]


def test_a_syn_ends_an_older_connection_of_the_same_ports() -> None:
    capture = Capture()
    capture.feed(5000, b"in", ends=BACK)
    assert capture.feed(999, flags=SYN) == ["> closed reused", f"> opened {NAME}#1"]
    assert capture.feed(6000, flags=SYN | ACK, ack=1000, ends=BACK) == [f"< opened {NAME}#1"]


def test_a_closed_connection_may_be_followed_by_one_without_syn() -> None:
    capture = Capture()
    capture.connect()
    capture.feed(1000, flags=RST)
    assert capture.feed(1000, b"late") == []
    far = 1000 + TCP_HOLE_BYTES_MAX + 1
    assert capture.feed(far, b"new") == [f"> opened {NAME}#2 without SYN", "> new"]
    assert capture.feed(far + 3, b"er") == ["> er"]
    assert capture.streams.skipped.bytes == {"TCP bytes after the end": 4}


def test_more_bytes_missing_than_sequence_numbers_can_express() -> None:
    capture = Capture()
    capture.connect()
    capture.feed(1000, b"before")
    far = 1000 - 5 * TCP_HOLE_BYTES_MAX
    for i in range(TCP_HOLE_SEGMENTS_MAX - 1):
        assert capture.feed(far + i, b"s") == []
        assert capture.feed(far + i, b"s") == []
    resumed = far + TCP_HOLE_SEGMENTS_MAX - 1
    assert capture.feed(resumed, b"after") == ["> gap None missing", "> after"]
    assert capture.feed(resumed + 5, b"wards") == ["> wards"]


def test_the_least_recently_used_connection_is_evicted() -> None:
    capture = Capture(TcpStreams(flows_max=3))
    ends = [Ends(f"10.0.0.1:{port}", B) for port in range(5)]
    for one in ends[:3]:
        capture.feed(999, flags=SYN, ends=one)
    capture.feed(1000, b"a", ends=ends[0])
    capture.feed(1003, b"held", ends=ends[1])
    capture.feed(1000, b"a", ends=ends[2])
    capture.feed(1001, b"b", ends=ends[0])
    assert capture.feed(999, flags=SYN, ends=ends[3]) == [
        "> gap 3 missing",
        "> held",
        "> closed idle",
        f"> opened {ends[3].text}#1",
    ]
    assert capture.feed(999, flags=SYN, ends=ends[4])[0] == "> closed idle"
    assert capture.events[-2].flow.text == ends[2].text
    back = capture.feed(50, b"x", ends=ends[1])
    assert back == ["> closed idle", f"> opened {ends[1].text}#2 without SYN", "> x"]
    assert Counter(capture.end()) == {"> closed end": 3}


def test_many_connections_take_bounded_memory() -> None:
    flows_max = TCP_FLOWS_MAX if IS_FULL else 5_000
    streams = TcpStreams(flows_max=flows_max, held_bytes_max=flows_max * 200)
    closed = 0
    tracemalloc.start()
    try:
        for i in range(2 * flows_max):
            ends = Ends(f"10.{i >> 16}.{i >> 8 & 255}.{i & 255}:4", B)
            for seq, data, flags in ((0, b"", SYN), (1, b"ab", ACK), (9, b"held" * 20, ACK)):
                for event in streams.feed(Segment(i, i, ends, seq, 0, flags, data)):
                    closed += isinstance(event, StreamClosed)
            if i == flows_max:
                gc.collect()
                first, _ = tracemalloc.get_traced_memory()
        gc.collect()
        last, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert closed == flows_max
    assert peak < flows_max * 4_000
    # Names of evicted connections are still known.
    assert last < first + flows_max * 400
    assert sum(isinstance(event, StreamClosed) for event in streams.finish()) == flows_max


@given(
    st.lists(
        st.tuples(
            st.sampled_from([OUT, BACK, Ends(A, A)]),
            st.one_of(st.integers(0, 40), st.integers(0, MASK)),
            st.one_of(st.integers(0, 40), st.integers(0, MASK)),
            st.integers(0, 255),
            st.binary(max_size=12),
            st.sampled_from([0, 0, 0, 3, 70_000]),
        ),
        max_size=40,
    )
)
def test_random_segments_keep_the_order_of_events(
    segments: list[tuple[Ends, int, int, int, bytes, int]],
) -> None:
    streams = TcpStreams(flows_max=1, held_bytes_max=500)
    events: list[StreamEvent] = []
    for i, (ends, seq, ack, flags, data, missing) in enumerate(segments):
        events += streams.feed(Segment(i, i, ends, seq, ack, flags, data, missing))
    events += streams.finish()
    states: dict[tuple[str, int], str] = {}
    for event in events:
        key = event.flow.name, event.direction
        before = states.get(key, "new")
        if isinstance(event, StreamOpened):
            assert before == "new"
            states[key] = "open"
        elif isinstance(event, StreamClosed):
            assert before == "open"
            states[key] = "closed"
        else:
            assert before == "open"
        if isinstance(event, StreamGap):
            assert event.missing_bytes is None or event.missing_bytes > 0
        if isinstance(event, StreamBytes):
            assert event.data
    assert "open" not in states.values()


def test_connections_of_one_segment_evict_no_other() -> None:
    """The connections of a scan or a flood evict each other."""
    assert TcpStreams()._new_max == TCP_NEW_FLOWS_MAX
    capture = Capture(TcpStreams(flows_max=100, new_flows_max=10))
    capture.connect()
    for port in range(1, 201):
        capture.feed(1, flags=SYN, ends=Ends(f"10.0.0.3:{port}", B))
    assert capture.feed(1000, b"still there") == ["> still there"]
    streams = capture.streams
    assert (len(streams._new), len(streams._recent)) == (10, 1)
    assert len(streams._directions) == 22


def test_a_new_connection_stays_once_it_is_answered() -> None:
    capture = Capture(TcpStreams(flows_max=100, new_flows_max=2))
    for port in (1, 2, 3):
        there, back = Ends(f"10.0.0.3:{port}", B), Ends(B, f"10.0.0.3:{port}")
        capture.feed(1, flags=SYN, ends=there)
        capture.feed(1, flags=SYN | ACK, ack=2, ends=back)
    for port in (1, 2, 3):
        data = str(port).encode()
        assert capture.feed(2, data, ends=Ends(f"10.0.0.3:{port}", B)) == [f"> {port}"]


def test_acknowledgement_of_bytes_that_the_capture_lacks_marks_the_flow() -> None:
    capture = Capture()
    capture.connect()
    capture.feed(1000, b"abc")
    capture.feed(5000, b"in", ack=1003, ends=BACK)
    flow = next(event for event in capture.events if isinstance(event, StreamBytes)).flow
    assert not flow.is_behind
    capture.feed(5002, ack=1010, ends=BACK)
    assert flow.is_behind
