"""Small captures of real nodes that were once decoded wrongly."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.paths import CAPTURES
from zenlake import trace
from zenlake.trace import MessageSeen, Trace

FOUND = CAPTURES / "found"


class Reading:
    def __init__(self, name: str) -> None:
        self.trace: Trace = trace.open(str(FOUND / f"{name}.pcapng"))
        self.messages = [event for event in self.trace if isinstance(event, MessageSeen)]
        self.counts = Counter(event.kind for event in self.messages)
        self.outcomes = Counter(session.outcome for session in self.trace.sessions)


def test_tails_of_fragmented_messages_are_not_messages() -> None:
    """The capture begins inside a message; it is unknown whether first fragments are marked."""
    reading = Reading("sn8_midstream_fragments")
    assert set(reading.counts) == {"FRAGMENT", "FRAME", "PUSH/PUT", "PUSH/DEL"}
    tails = [event for event in reading.messages if event.kind == "FRAGMENT" and event.ignored]
    assert len(tails) > 10


@pytest.mark.parametrize("name", ["compressed_snap96", "lowlatency_snap96"])
def test_form_is_unknown_after_a_truncated_handshake(name: str) -> None:
    """Decoded as plain units, the bytes would contain wrong INIT and TRANSPORT_OAM messages."""
    reading = Reading(name)
    assert "TRANSPORT_OAM" not in reading.counts
    assert reading.counts["INIT_SYN"] == len(reading.trace.sessions)
    assert set(reading.trace.undecoded) == {"truncated"}
    assert reading.counts["DECLARE/D_SUBSCRIBER"] == 1


def test_answer_to_a_handshake_without_syn_is_recognised() -> None:
    reading = Reading("no_syn")
    assert reading.counts["INIT_ACK"] == reading.counts["INIT_SYN"] == 4
    assert reading.outcomes == {"closed": 2, "open": 2}
    assert not [event for event in reading.messages if event.ignored]


def test_receiver_is_unchanged_when_a_link_joins() -> None:
    reading = Reading("dial_open_ack")
    assert [len(session.links) for session in reading.trace.sessions] == [2]
    for event in reading.messages:
        assert event.sender_zid != event.receiver_zid


def test_low_latency_link_may_send_two_closes() -> None:
    reading = Reading("lowlatency_two_closes")
    assert reading.counts["CLOSE"] == 4
    assert reading.trace.undecoded == {}
    assert reading.outcomes == {"closed": 2}


def test_handshake_at_the_end_of_the_capture_is_not_refused() -> None:
    reading = Reading("ends_in_handshake")
    assert reading.counts == {"INIT_SYN": 1}
    assert reading.outcomes == {"open": 1}
    assert reading.trace.sessions[0].opened_ns is None


def test_data_of_an_earlier_session_does_not_open_the_next() -> None:
    """Over UDP, the router continues to send for a while after a client was killed."""
    reading = Reading("udp_port_reused_after_kill")
    assert reading.outcomes == {"closed": 1, "lost": 1, "refused": 1}
