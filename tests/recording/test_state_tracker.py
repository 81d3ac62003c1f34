"""A reader that begins with a state has the same results as one that reads from the start."""

from __future__ import annotations

import pytest

from tests.chance import IS_FULL
from tests.paths import CAPTURES
from tests.recording.recorded_captures import events_of, recorded, tracker_after
from zenlake.capture.segment_format import FIRST
from zenlake.limits import (
    RECORDING_ADDRESS_PAIRS_MAX,
    RECORDING_ADDRESS_USES_MAX,
    RECORDING_DATAGRAM_LINKS_MAX,
    RECORDING_STATE_HANDSHAKE_BATCHES_MAX,
    RECORDING_STATE_MESSAGE_BYTES_MAX,
    RECORDING_TRACKED_BYTES_MAX,
)
from zenlake.recording.link_packets import LinkPackets
from zenlake.recording.packet_headers import End
from zenlake.recording.state_tracker import StateTracker
from zenlake.recording.tracked_link import TrackedLink
from zenlake.trace import MessageSeen, SessionChanged, TraceEvent
from zenlake.trace.events import Missing, Undecoded
from zenlake.trace.timelines.declarations import DeclarationLifetime, Declarations
from zenlake.trace.timelines.exchange import Exchange
from zenlake.trace.timelines.exchanges import Exchanges
from zenlake.trace.timelines.interests import InterestLifetime, Interests
from zenlake.wire import (
    Close,
    CloseReason,
    Declare,
    DeclareKeyExpr,
    DeclareSubscriber,
    Encoding,
    Frame,
    Init,
    Open,
    Query,
    QueryBody,
    Request,
    ResponseFinal,
    UndeclareKeyExpr,
    WhatAmI,
    WireExpr,
    ZenohId,
)
from zenlake.wire.message import NetworkMessage

CUTS = 60 if IS_FULL else 6
NAMES = sorted(path.name for path in CAPTURES.glob("*.pcap*"))


def several_links(events: list[TraceEvent]) -> set[str]:
    """The links of sessions with several: a recorder's node has one link for each session."""
    found = {event.session for event in events if isinstance(event, SessionChanged)}
    several = [one for one in found if len(one.links) > 1 and not one.is_multicast]
    return {link.name for one in several for link in one.links}


def summaries(events: list[TraceEvent], start: int, left_out: set[str]) -> list[tuple[object, ...]]:
    """The events that readers report from packet number `start` on."""
    found: list[tuple[object, ...]] = []
    for event in events:
        if event.packet < start:
            continue
        if isinstance(event, MessageSeen):
            session = None if event.session is None else event.session.id
            if session in left_out:
                continue
            nodes = tuple(
                None if node is None else node.zid
                for node in (event.sender_node, event.receiver_node)
            )
            found.append((event.packet, event.kind, event.key, event.ignored, session, *nodes))
        elif isinstance(event, SessionChanged) and event.session.id not in left_out:
            found.append((event.packet, event.change, event.session.id, event.link.name))
        elif isinstance(event, Missing):
            found.append((event.packet, event.kind, event.count, event.bytes))
        elif isinstance(event, Undecoded):
            found.append((event.packet, event.state, event.bytes))
    return found


def after_gaps(found: list[tuple[object, ...]]) -> list[str]:
    """What both readers report of links with gaps.

    The reader of everything waits for the missing bytes, and reports gaps from before the cut.
    """
    return sorted(repr(one) for one in found if one[1] not in ("tcp_gap", "sn_gap"))


def lifetimes(
    events: list[TraceEvent], start: int, since_ns: int, left_out: set[str]
) -> list[tuple[object, ...]]:
    """Declarations, interests and exchanges that a reader reports from `start` on."""
    found: list[tuple[object, ...]] = []
    timelines = (Declarations(), Interests(), Exchanges())
    ended: list[DeclarationLifetime | InterestLifetime | Exchange] = []
    for event in events:
        for timeline in timelines:
            one = timeline.feed(event)
            if event.packet >= start:
                ended += one
    for timeline in timelines:
        ended += timeline.finish()
    for item in ended:
        closed_ns = item.session.closed_ns
        session = item.session.id
        if session in left_out or (closed_ns is not None and closed_ns < since_ns):
            continue
        if isinstance(item, DeclarationLifetime):
            declared = None if item.declared is None else item.declared.time_ns
            found.append(
                (session, item.entity, item.id, item.key, declared, item.ended_by, item.complete)
            )
        elif isinstance(item, InterestLifetime):
            opened = None if item.opened is None else item.opened.time_ns
            found.append((session, item.side, item.id, item.options, opened, item.ended_by))
        elif item.final is None or item.final.packet >= start:  # others wait for late responses
            request = item.request
            asked = None if request is None else (request.time_ns, request.key)
            found.append((session, item.place, asked, item.ended_by))
    return sorted(found, key=repr)


@pytest.mark.parametrize("name", NAMES)
def test_reader_from_any_cut_reads_what_a_reader_of_everything_reads(name: str) -> None:
    packets = recorded(CAPTURES / name)
    if "midstream" in name:  # no link of these begins in them
        assert not packets
        return
    assert len(packets) > 10
    whole = events_of([], packets, 1)
    left_out = several_links(whole)
    has_gap = any(isinstance(event, Missing) and event.kind == "tcp_gap" for event in whole)
    assert has_gap == (name == "impaired.pcapng.gz")
    for cut in range(1, CUTS + 1):
        start = 1 + len(packets) * cut // (CUTS + 1)
        state = tracker_after(packets[: start - 1]).packets()
        assert all(one.time_ns <= packets[start - 1].time_ns for one in state)
        events = events_of(state, packets, start)
        since_ns = packets[start - 1].time_ns
        found, expected = (summaries(one, start, left_out) for one in (events, whole))
        if has_gap:
            assert after_gaps(found) == after_gaps(expected), start
        else:
            assert found == expected, start
        wanted = lifetimes(whole, start, since_ns, left_out)
        assert lifetimes(events, start, since_ns, left_out) == wanted, start


@pytest.mark.parametrize("name", NAMES)
def test_state_of_a_state_is_the_same_state(name: str) -> None:
    packets = recorded(CAPTURES / name)
    for cut in range(1, CUTS + 1):
        state = tracker_after(packets[: len(packets) * cut // (CUTS + 1)]).packets()
        assert tracker_after(state).packets() == state


# --- by hand ----------------------------------------------------------------------------------

ENDS = (End(bytes((10, 0, 0, 1)), 40_000), End(bytes((10, 0, 0, 2)), 7447))


class Scripted:
    """A link that is open, and messages on it."""

    def __init__(self, bytes_max: int = RECORDING_TRACKED_BYTES_MAX) -> None:
        self.tracker = StateTracker(bytes_max)
        self.now = 1_000
        self.link = self.tracker.open(ENDS, True, self.now, (100, 200))
        self.sns = [10, 20]
        zid = ZenohId(b"\x01")
        self.raw(0, bytes(Init(WhatAmI.CLIENT, zid)))
        self.raw(1, bytes(Init(WhatAmI.ROUTER, ZenohId(b"\x02"), cookie=b"c")))
        self.raw(0, bytes(Open(10_000, 10, cookie=b"c")))
        self.raw(1, bytes(Open(10_000, 20)))

    def raw(self, direction: int, batch: bytes) -> None:
        self.now += 1_000
        self.tracker.batch(self.link, direction, batch, 0, self.now)
        self.link.next_seq[direction] += len(batch) + 2

    def send(self, direction: int, *messages: NetworkMessage) -> None:
        self.raw(direction, bytes(Frame(self.sns[direction], list(messages))))
        self.sns[direction] += 1

    def state(self) -> list[TraceEvent]:
        return events_of(self.tracker.packets(), (), 1)

    def keys(self, kind: str) -> list[str | None]:
        return [
            one.key for one in self.state() if isinstance(one, MessageSeen) and one.kind == kind
        ]


def subscriber(id: int, key: WireExpr) -> Declare:
    return Declare(DeclareSubscriber(id, key))


def test_declaration_keeps_its_key_after_its_alias_was_undeclared() -> None:
    script = Scripted()
    script.send(0, Declare(DeclareKeyExpr(7, WireExpr(0, "robot"))))
    script.send(0, subscriber(1, WireExpr(7, "/arm")))
    script.send(0, Declare(UndeclareKeyExpr(7)))
    script.send(0, Declare(DeclareKeyExpr(7, WireExpr(0, "camera"))))
    assert script.keys("DECLARE/D_SUBSCRIBER") == ["robot/arm"]
    assert script.keys("DECLARE/D_KEYEXPR") == ["camera"]


def test_declaration_with_the_alias_of_the_other_side_comes_after_it() -> None:
    script = Scripted()
    script.send(1, Declare(DeclareKeyExpr(3, WireExpr(0, "lab"))))
    script.send(0, subscriber(1, WireExpr(3, "/**", sender=False)))
    assert script.keys("DECLARE/D_SUBSCRIBER") == ["lab/**"]


def test_request_is_open_until_its_final() -> None:
    script = Scripted()
    for id in (1, 2):
        script.send(0, Request(id, WireExpr(0, f"ask/{id}"), Query()))
    script.send(1, ResponseFinal(1))
    assert script.keys("REQUEST") == ["ask/2"]


def test_state_of_a_closed_session_is_its_close_alone() -> None:
    script = Scripted()
    script.send(0, subscriber(1, WireExpr(0, "a")))
    script.raw(0, bytes(Close(int(CloseReason.GENERIC), session=True)))
    kinds = [one.kind for one in script.state() if isinstance(one, MessageSeen)]
    assert kinds == ["INIT_SYN", "INIT_ACK", "OPEN_SYN", "OPEN_ACK", "CLOSE"]
    script.tracker.close(script.link, script.now)
    assert script.tracker.links == []


def test_state_ends_where_the_bytes_of_the_link_go_on() -> None:
    script = Scripted()
    script.send(0, subscriber(1, WireExpr(0, "a")))
    again = tracker_after(script.tracker.packets())
    assert again.links[0].next_seq == script.link.next_seq


def test_budget_forgets_the_oldest_requests_first() -> None:
    script = Scripted(bytes_max=2_000)
    script.send(0, subscriber(1, WireExpr(0, "kept")))
    for id in range(100):
        script.send(0, Request(id, WireExpr(0, f"ask/{id}"), Query()))
    asked = script.keys("REQUEST")
    assert asked[-1] == "ask/99"
    assert 10 < len(asked) < 30
    assert script.tracker.forgotten == 100 - len(asked)
    assert script.keys("DECLARE/D_SUBSCRIBER") == ["kept"]
    for id in range(2, 100):
        script.send(0, subscriber(id, WireExpr(0, f"more/{id}")))
    assert script.tracker.forgotten > 100
    assert sum(len(one.data) for one in script.tracker.packets()) < 10_000
    assert RECORDING_TRACKED_BYTES_MAX == 32 << 20


def long_request(id: int, size: int) -> Request:
    return Request(id, WireExpr(0, f"ask/{id}"), Query(body=QueryBody(Encoding(0), b"p" * size)))


def test_message_beyond_its_limit_is_forgotten() -> None:
    script = Scripted()
    message = long_request(1, RECORDING_STATE_MESSAGE_BYTES_MAX)
    script.link._network(0, script.link.sides[0], message, 11, 1)
    assert script.tracker.forgotten == 1


def test_message_longer_than_a_batch_is_repeated_in_fragments() -> None:
    script = Scripted()
    script.send(0, subscriber(9, WireExpr(0, "a")))
    script.link._network(0, script.link.sides[0], long_request(1, 200_000), 11, 1_000_000)
    assert script.keys("REQUEST") == ["ask/1"]
    assert script.keys("FRAGMENT") == [None] * 4


def test_handshake_batches_are_bounded() -> None:
    tracker = StateTracker()
    link = tracker.open(ENDS, False, 1)
    offer = bytes(Init(WhatAmI.CLIENT, ZenohId(b"\x01")))
    for _ in range(2 * RECORDING_STATE_HANDSHAKE_BATCHES_MAX):
        tracker.batch(link, 0, offer, 0, 2)
    assert len(link.handshake) == RECORDING_STATE_HANDSHAKE_BATCHES_MAX


def link_names(tracker: StateTracker) -> list[tuple[int, int]]:
    return [(link.ends[0].port, link.use) for link in tracker.links]


def test_link_gets_its_number_among_links_between_the_same_addresses() -> None:
    tracker = StateTracker()
    for _ in range(3):
        link = tracker.open(ENDS, True, 5)
        tracker.close(link, 6)
    state = tracker.packets()
    again = tracker_after(state)
    opened: TrackedLink = again.open(ENDS, True, 7, (500, 500))
    assert opened.use == 4
    assert link_names(tracker_after(again.packets())) == [(40_000, 4)]
    for _ in range(2 * RECORDING_ADDRESS_USES_MAX):
        tracker.close(tracker.open(ENDS, True, 5), 6)
    assert len(tracker.packets()) == 2 * RECORDING_ADDRESS_USES_MAX


def test_closed_datagram_link_leaves_no_state() -> None:
    """Readers number datagram links by their handshakes, not by connections."""
    tracker = StateTracker()
    for _ in range(3):
        tracker.close(tracker.open(ENDS, False, 5), 6)
    assert tracker.packets() == []


def test_addresses_of_closed_links_are_bounded() -> None:
    tracker = StateTracker()
    for number in range(RECORDING_ADDRESS_PAIRS_MAX + 10):
        first = End((10 << 24 | number).to_bytes(4, "big"), 1)
        tracker.close(tracker.open((first, ENDS[1]), True, 1), 2)
    assert len(tracker.packets()) == 2 * RECORDING_ADDRESS_PAIRS_MAX


def test_datagram_links_are_bounded() -> None:
    tracker = StateTracker()
    for number in range(RECORDING_DATAGRAM_LINKS_MAX + 5):
        first = End((10 << 24 | number).to_bytes(4, "big"), 1)
        packets = LinkPackets((first, ENDS[1]), False, [0, 0])
        tracker.feed_packet(1, packets.data(0, b"\x04")[0], FIRST)
    assert len(tracker.links) == RECORDING_DATAGRAM_LINKS_MAX


def test_packet_that_is_no_recorded_one_changes_nothing() -> None:
    tracker = StateTracker()
    for data in (b"", b"\x45", b"\x60" * 60, b"\xff" * 100, b"\x45" + b"\0" * 40):
        tracker.feed_packet(1, data, FIRST)
    assert tracker.packets() == []
