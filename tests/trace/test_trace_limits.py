"""What a trace keeps is bounded, whatever the traffic is."""

from __future__ import annotations

import tracemalloc

from tests.trace.built_events import KEY, Talk, reply, request
from tests.trace.noise import PAYLOAD_BYTES_MAX
from tests.trace.road import Road
from zenlake.capture.transport import ACK, SYN, Ends, Segment, UdpDatagram
from zenlake.limits import (
    DECLARATIONS_MAX,
    DECLARATIONS_PER_SESSION_MAX,
    EXCHANGE_BYTES_MAX,
    EXCHANGES_BYTES_MAX,
    EXCHANGES_MAX,
    EXCHANGES_PER_SESSION_MAX,
    INTERESTS_MAX,
    INTERESTS_PER_SESSION_MAX,
    TRACE_CANDIDATES_MAX,
    TRACE_ENTITIES_MAX,
    TRACE_FRAGMENT_BYTES_MAX,
    TRACE_HELD_BYTES_MAX,
    TRACE_HELD_DATAGRAM_BYTES_MAX,
    TRACE_HELD_DATAGRAMS_MAX,
    TRACE_KEY_BYTES_MAX,
    TRACE_MESSAGE_BYTES_MAX,
    TRACE_SCAN_BYTES_MAX,
    TRACE_SCOUTS_MAX,
    TRACE_SESSIONS_MAX,
    TRACE_UDP_LINKS_MAX,
    TRACE_UNDECIDED_BYTES_MAX,
    TRACE_UNDECIDED_CONNECTIONS_MAX,
)
from zenlake.trace.channel import Channel, Reassembly
from zenlake.trace.keys import declare
from zenlake.trace.link import Link, LinkBatch
from zenlake.trace.links.connections import Connections
from zenlake.trace.links.datagram_link import DatagramBudget
from zenlake.trace.session import KeyMemory, Node
from zenlake.trace.sessions import Sessions
from zenlake.trace.timelines.declarations import Declarations
from zenlake.trace.timelines.exchanges import Exchanges
from zenlake.trace.timelines.interests import Interests
from zenlake.wire import Declare, DeclareSubscriber, Fragment, Scout
from zenlake.wire.values.whatami import WhatAmIMatcher
from zenlake.wire.values.wire_expr import WireExpr

MEBIBYTE = 1 << 20
BLOCK = bytes(MEBIBYTE)
MASK = 0x0FFF_FFFF


def fill(channel: Channel, blocks: int, last: bytes = b"") -> str | None:
    """So many fragments of one message, without its end; why the last one was not taken."""
    ignored = None
    for sn in range(blocks):
        fragment = Fragment(sn, BLOCK, more=True, first=sn == 0)
        ignored = channel.add(fragment, sn, 1, MASK)
    if last:
        ignored = channel.add(Fragment(blocks, last, more=True), blocks, 1, MASK)
    return ignored


def test_a_message_in_fragments_may_have_so_many_bytes() -> None:
    channel = Channel(Reassembly())
    assert fill(channel, TRACE_MESSAGE_BYTES_MAX // MEBIBYTE) is None
    assert channel.held_bytes == TRACE_MESSAGE_BYTES_MAX
    assert channel.dropped_bytes == 0


def test_one_byte_more_and_the_message_is_dropped() -> None:
    channel = Channel(Reassembly())
    ignored = fill(channel, TRACE_MESSAGE_BYTES_MAX // MEBIBYTE, b"!")
    assert ignored is not None
    assert str(TRACE_MESSAGE_BYTES_MAX) in ignored
    assert channel.held_bytes == 0
    assert channel.dropped_bytes == TRACE_MESSAGE_BYTES_MAX


def test_unfinished_messages_of_all_channels_share_a_bound() -> None:
    reassembly = Reassembly()
    channels = [Channel(reassembly) for _ in range(20)]
    each = TRACE_FRAGMENT_BYTES_MAX // MEBIBYTE // 10
    for channel in channels:
        fill(channel, each)
        assert reassembly.held_bytes <= TRACE_FRAGMENT_BYTES_MAX
    assert reassembly.held_bytes == sum(channel.held_bytes for channel in channels)
    assert channels[0].held_bytes == 0
    assert channels[0].dropped_bytes > 0
    assert channels[-1].held_bytes == each * MEBIBYTE


def stream(road: Road, data: bytes, client: int = 1) -> None:
    ends = Ends(f"10.0.0.1:{client}", "10.0.0.2:7447")
    for place in range(0, len(data), PAYLOAD_BYTES_MAX):
        part = data[place : place + PAYLOAD_BYTES_MAX]
        road.feed(Segment(1, 1, ends, 1_000 + place, 0, ACK, part))


def test_a_direction_that_is_searched_keeps_so_many_bytes() -> None:
    road = Road()
    stream(road, b"\xff" * (TRACE_SCAN_BYTES_MAX + 60_000))
    # Half of it goes at a time, so that bytes are not moved too often.
    assert road.connections.held_bytes > TRACE_SCAN_BYTES_MAX // 2 - PAYLOAD_BYTES_MAX
    assert road.connections.held_bytes <= TRACE_SCAN_BYTES_MAX


def test_what_gives_no_batch_in_so_many_bytes_is_something_else() -> None:
    assert TRACE_UNDECIDED_BYTES_MAX > TRACE_SCAN_BYTES_MAX
    road = Road()
    data = b"\xff" * (TRACE_UNDECIDED_BYTES_MAX + 2 * PAYLOAD_BYTES_MAX)
    stream(road, data)
    assert road.connections.held_bytes == 0
    road.finish()
    assert road.undecoded_bytes == len(data)
    assert not road.sessions


def test_so_many_places_wait_for_more_bytes() -> None:
    """Each of these looks like the beginning of a long FRAGMENT."""
    road = Road()
    stream(road, b"\xff\xf0\x06\x00" * (5 * TRACE_CANDIDATES_MAX))
    (connection,) = road.connections._by_flow.values()
    scanner = connection.reader(0).scanner
    assert scanner is not None
    assert len(scanner._waiting) == TRACE_CANDIDATES_MAX
    assert len(scanner._fresh) == 0


def test_all_connections_together_keep_so_many_bytes() -> None:
    assert Connections([], frozenset())._held_bytes_max == TRACE_HELD_BYTES_MAX
    road = Road()
    road.connections._held_bytes_max = 100_000
    for client in range(1, 30):
        stream(road, b"\xff" * 10_000, client)
        assert road.connections.held_bytes <= 100_000
    road.finish()
    assert road.connections.held_bytes == 0
    assert road.undecoded_bytes == 29 * 10_000


def test_zenoh_is_looked_for_in_so_many_connections_at_once() -> None:
    expected = TRACE_UNDECIDED_CONNECTIONS_MAX
    assert Connections([], frozenset())._undecided_max == expected
    road = Road()
    road.connections._undecided_max = 10
    for client in range(1, 31):
        stream(road, b"\xff" * 40, client)
        assert road.connections.held_bytes == 40 * min(client, 10)
    off = [one.is_rejected for one in road.connections._by_flow.values()]
    assert off == [True] * 20 + [False] * 10
    road.finish()
    assert road.connections.held_bytes == 0
    assert road.undecoded_bytes == 30 * 40


def test_a_connection_that_was_used_again_is_not_the_oldest() -> None:
    road = Road()
    road.connections._undecided_max = 2
    for client in (1, 2):
        stream(road, b"\xff" * 40, client)
    ends = Ends("10.0.0.1:1", "10.0.0.2:7447")
    road.feed(Segment(2, 2, ends, 1_040, 0, ACK, b"\xff"))
    stream(road, b"\xff" * 40, 3)
    off = {flow.source: one.is_rejected for flow, one in road.connections._by_flow.items()}
    assert off == {"10.0.0.1:1": False, "10.0.0.1:2": True, "10.0.0.1:3": False}


def test_connections_without_bytes_are_a_number_each() -> None:
    road = Road()
    for client in range(1, 101):
        road.feed(Segment(1, 1, Ends(f"10.0.0.1:{client}", "10.0.0.2:7447"), 1, 0, SYN, b""))
    assert len(road.connections._quiet) == 100
    assert not road.connections._by_flow
    road.finish()
    assert not road.connections._quiet
    assert not road.events


def test_one_segment_of_many_connections_takes_little_memory() -> None:
    """Those that were given up keep no buffers, queues or candidates."""
    road = Road()
    road.connections._undecided_max = 10
    for client in range(1, 101):
        stream(road, b"\xff" * 40, client)
    tracemalloc.start()
    try:
        for client in range(101, 1_101):
            stream(road, b"\xff" * 40, client)
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used < 1_000 * 4_096


def datagram(number: int, payload: bytes, client: int = 1) -> UdpDatagram:
    # Addresses may have any text here.
    ends = Ends(f"10.0.{client >> 16}.1:{client & 0xFFFF}", "10.0.0.2:7447")
    return UdpDatagram(number, number * 100_000_000, ends, payload)


def test_so_many_datagrams_wait_until_they_prove_something() -> None:
    """Empty FRAMEs with small numbers prove nothing."""
    road = Road()
    for number in range(1, 3 * TRACE_HELD_DATAGRAMS_MAX):
        road.feed(datagram(number, bytes((0x25, number))))
        (link,) = road.datagrams._links.values()
        assert len(link._held) <= TRACE_HELD_DATAGRAMS_MAX
    assert not road.sessions


def test_datagrams_of_all_addresses_share_a_bound() -> None:
    assert DatagramBudget().held_bytes_max == TRACE_HELD_DATAGRAM_BYTES_MAX
    road = Road()
    road.datagrams._budget.held_bytes_max = 10
    for client in range(1, 30):
        road.feed(datagram(client, b"\x25\x01", client))
        assert road.datagrams._budget.held_bytes <= 10


def test_so_many_udp_links_are_followed() -> None:
    road = Road()
    assert road.datagrams._links_max == TRACE_UDP_LINKS_MAX
    road.datagrams._links_max = 500
    for client in range(510):
        road.feed(datagram(client, b"\xff", client))
    assert len(road.datagrams._links) == 500
    road.finish()
    assert road.undecoded_bytes == 510


def test_so_many_scouts_are_remembered() -> None:
    road = Road()
    payload = bytes(Scout(WhatAmIMatcher(1)))
    for client in range(TRACE_SCOUTS_MAX + 10):
        ends = Ends(f"10.0.0.1:{client}", "224.0.0.224:7446")
        road.feed(UdpDatagram(client, client, ends, payload))
    assert len(road.messages) == TRACE_SCOUTS_MAX + 10
    assert len(road.datagrams._scouts) == TRACE_SCOUTS_MAX
    assert len(road.datagrams._scouting) == TRACE_SCOUTS_MAX


def test_sessions_that_are_over_make_room() -> None:
    sessions = Sessions([])
    assert sessions._found_max == TRACE_SESSIONS_MAX
    sessions._found_max = 1_000
    for number in range(1_001):
        link = Link(f"a-b#{number}", "tcp", "a:1", "b:2", True)
        session = sessions.begin(LinkBatch(link, 0, 1, 1, b"", [], "ok", None, 0))
        if number % 2:
            session.closed_ns = 1
    assert len(sessions.found) <= 1_000
    assert len(sessions.found) + sessions.forgotten == 1_001
    assert all(session.closed_ns is None for session in sessions.found[:-1])


def test_sessions_are_looked_up_and_not_searched_for() -> None:
    """With many sessions, each that joins another or is a group would have to be compared."""
    sessions = Sessions([])
    began = []
    for number in range(3):
        link = Link(f"a-b#{number}", "tcp", "a:1", "b:2", True)
        began.append(sessions.begin(LinkBatch(link, 0, 1, 1, b"", [], "ok", None, 0)))
    assert sessions.found == began
    joined = LinkBatch(began[1].links[0], 0, 1, 1, b"", [], "ok", None, 0)
    sessions._merge(joined, joined.link, began[1], began[0])
    assert sessions.found == [began[0], began[2]]
    assert sessions.found_count == 2
    assert not sessions.remembers(began[1])
    assert isinstance(sessions._found, dict)


def test_so_many_declarations_of_a_node_are_remembered() -> None:
    node, memory = Node("a:1"), KeyMemory()
    for number in range(1, TRACE_ENTITIES_MAX + 10):
        declare(node, Declare(DeclareSubscriber(number, WireExpr(0, KEY))), KEY, memory)
    assert len(node.entities) == TRACE_ENTITIES_MAX


def test_keys_of_all_nodes_take_so_many_bytes() -> None:
    assert KeyMemory().bytes_max == TRACE_KEY_BYTES_MAX
    node, memory = Node("a:1"), KeyMemory(bytes_max=2 * len(KEY))
    assert [memory.keep(node, KEY) for _ in range(3)] == [KEY, KEY, None]


def test_an_exchange_keeps_so_many_bytes_of_responses() -> None:
    talk, walker = Talk(), Exchanges()
    walker.feed(talk.say(0, request(1)))
    for _ in range(10):
        walker.feed(talk.say(1, reply(1, BLOCK)))
    (exchange,) = walker.finish()
    assert exchange.replies == 10
    assert len(exchange.responses) <= EXCHANGE_BYTES_MAX // MEBIBYTE + 1


def test_timelines_are_bounded_unless_told_otherwise() -> None:
    """What happens at the bound is tested with the timelines, at smaller ones."""
    exchanges = Exchanges()
    assert exchanges._bytes_max == EXCHANGES_BYTES_MAX
    bounds = [
        (lives._per_session_max, lives._count_max)
        for lives in (exchanges._open, Declarations()._open, Interests()._open)
    ]
    assert bounds == [
        (EXCHANGES_PER_SESSION_MAX, EXCHANGES_MAX),
        (DECLARATIONS_PER_SESSION_MAX, DECLARATIONS_MAX),
        (INTERESTS_PER_SESSION_MAX, INTERESTS_MAX),
    ]
