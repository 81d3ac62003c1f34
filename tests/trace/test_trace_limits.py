"""The memory of a trace is bounded for all traffic."""

from __future__ import annotations

import tracemalloc

from tests.trace.built_sessions import KEY, BuiltSession, reply, request
from tests.trace.event_reader import EventReader
from tests.trace.noise import PAYLOAD_BYTES_MAX
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
from zenlake.trace.channel import Channel, IncompleteMessages
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
    """Adds fragments of one message without its end; returns why the last one was ignored."""
    ignored = None
    for sn in range(blocks):
        fragment = Fragment(sn, BLOCK, more=True, first=sn == 0)
        ignored = channel.add(fragment, sn, 1, MASK)
    if last:
        ignored = channel.add(Fragment(blocks, last, more=True), blocks, 1, MASK)
    return ignored


def test_a_fragmented_message_up_to_the_limit_is_kept() -> None:
    channel = Channel(IncompleteMessages())
    assert fill(channel, TRACE_MESSAGE_BYTES_MAX // MEBIBYTE) is None
    assert channel.held_bytes == TRACE_MESSAGE_BYTES_MAX
    assert channel.dropped_bytes == 0


def test_a_fragmented_message_above_the_limit_is_dropped() -> None:
    channel = Channel(IncompleteMessages())
    ignored = fill(channel, TRACE_MESSAGE_BYTES_MAX // MEBIBYTE, b"!")
    assert ignored is not None
    assert str(TRACE_MESSAGE_BYTES_MAX) in ignored
    assert channel.held_bytes == 0
    assert channel.dropped_bytes == TRACE_MESSAGE_BYTES_MAX


def test_incomplete_messages_of_all_channels_share_a_limit() -> None:
    reassembly = IncompleteMessages()
    channels = [Channel(reassembly) for _ in range(20)]
    each = TRACE_FRAGMENT_BYTES_MAX // MEBIBYTE // 10
    for channel in channels:
        fill(channel, each)
        assert reassembly.held_bytes <= TRACE_FRAGMENT_BYTES_MAX
    assert reassembly.held_bytes == sum(channel.held_bytes for channel in channels)
    assert channels[0].held_bytes == 0
    assert channels[0].dropped_bytes > 0
    assert channels[-1].held_bytes == each * MEBIBYTE


def stream(reader: EventReader, data: bytes, client: int = 1) -> None:
    ends = Ends(f"10.0.0.1:{client}", "10.0.0.2:7447")
    for place in range(0, len(data), PAYLOAD_BYTES_MAX):
        part = data[place : place + PAYLOAD_BYTES_MAX]
        reader.feed(Segment(1, 1, ends, 1_000 + place, 0, ACK, part))


def test_bytes_of_a_searched_direction_are_bounded() -> None:
    reader = EventReader()
    stream(reader, b"\xff" * (TRACE_SCAN_BYTES_MAX + 60_000))
    # Half of the bytes are dropped at a time, so that the others are not moved too often.
    assert reader.connections.held_bytes > TRACE_SCAN_BYTES_MAX // 2 - PAYLOAD_BYTES_MAX
    assert reader.connections.held_bytes <= TRACE_SCAN_BYTES_MAX


def test_connection_without_a_batch_within_the_limit_is_not_zenoh() -> None:
    assert TRACE_UNDECIDED_BYTES_MAX > TRACE_SCAN_BYTES_MAX
    reader = EventReader()
    data = b"\xff" * (TRACE_UNDECIDED_BYTES_MAX + 2 * PAYLOAD_BYTES_MAX)
    stream(reader, data)
    assert reader.connections.held_bytes == 0
    reader.finish()
    assert reader.undecoded_bytes == len(data)
    assert not reader.sessions


def test_candidate_places_are_bounded() -> None:
    """Each of these places looks like the beginning of a long FRAGMENT."""
    reader = EventReader()
    stream(reader, b"\xff\xf0\x06\x00" * (5 * TRACE_CANDIDATES_MAX))
    (connection,) = reader.connections._by_flow.values()
    scanner = connection.reader(0).scanner
    assert scanner is not None
    assert len(scanner._waiting) == TRACE_CANDIDATES_MAX
    assert len(scanner._fresh) == 0


def test_bytes_held_by_all_connections_are_bounded() -> None:
    assert Connections([], frozenset())._held_bytes_max == TRACE_HELD_BYTES_MAX
    reader = EventReader()
    reader.connections._held_bytes_max = 100_000
    for client in range(1, 30):
        stream(reader, b"\xff" * 10_000, client)
        assert reader.connections.held_bytes <= 100_000
    reader.finish()
    assert reader.connections.held_bytes == 0
    assert reader.undecoded_bytes == 29 * 10_000


def test_unrecognised_connections_are_bounded() -> None:
    expected = TRACE_UNDECIDED_CONNECTIONS_MAX
    assert Connections([], frozenset())._undecided_max == expected
    reader = EventReader()
    reader.connections._undecided_max = 10
    for client in range(1, 31):
        stream(reader, b"\xff" * 40, client)
        assert reader.connections.held_bytes == 40 * min(client, 10)
    off = [one.is_rejected for one in reader.connections._by_flow.values()]
    assert off == [True] * 20 + [False] * 10
    reader.finish()
    assert reader.connections.held_bytes == 0
    assert reader.undecoded_bytes == 30 * 40


def test_connection_in_use_is_not_the_oldest() -> None:
    reader = EventReader()
    reader.connections._undecided_max = 2
    for client in (1, 2):
        stream(reader, b"\xff" * 40, client)
    ends = Ends("10.0.0.1:1", "10.0.0.2:7447")
    reader.feed(Segment(2, 2, ends, 1_040, 0, ACK, b"\xff"))
    stream(reader, b"\xff" * 40, 3)
    off = {flow.source: one.is_rejected for flow, one in reader.connections._by_flow.items()}
    assert off == {"10.0.0.1:1": False, "10.0.0.1:2": True, "10.0.0.1:3": False}


def test_connections_without_bytes_have_no_object() -> None:
    reader = EventReader()
    for client in range(1, 101):
        reader.feed(Segment(1, 1, Ends(f"10.0.0.1:{client}", "10.0.0.2:7447"), 1, 0, SYN, b""))
    assert len(reader.connections._quiet) == 100
    assert not reader.connections._by_flow
    reader.finish()
    assert not reader.connections._quiet
    assert not reader.events


def test_one_segment_of_many_connections_takes_little_memory() -> None:
    """Rejected connections keep no buffers, queues or candidates."""
    reader = EventReader()
    reader.connections._undecided_max = 10
    for client in range(1, 101):
        stream(reader, b"\xff" * 40, client)
    tracemalloc.start()
    try:
        for client in range(101, 1_101):
            stream(reader, b"\xff" * 40, client)
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used < 1_000 * 4_096


def datagram(number: int, payload: bytes, client: int = 1) -> UdpDatagram:
    # Addresses may be any text here.
    ends = Ends(f"10.0.{client >> 16}.1:{client & 0xFFFF}", "10.0.0.2:7447")
    return UdpDatagram(number, number * 100_000_000, ends, payload)


def test_held_datagrams_of_a_link_are_bounded() -> None:
    """Empty FRAMEs with small numbers prove nothing."""
    reader = EventReader()
    for number in range(1, 3 * TRACE_HELD_DATAGRAMS_MAX):
        reader.feed(datagram(number, bytes((0x25, number))))
        (link,) = reader.datagrams._links.values()
        assert len(link._held) <= TRACE_HELD_DATAGRAMS_MAX
    assert not reader.sessions


def test_datagrams_of_all_addresses_share_a_limit() -> None:
    assert DatagramBudget().held_bytes_max == TRACE_HELD_DATAGRAM_BYTES_MAX
    reader = EventReader()
    reader.datagrams._budget.held_bytes_max = 10
    for client in range(1, 30):
        reader.feed(datagram(client, b"\x25\x01", client))
        assert reader.datagrams._budget.held_bytes <= 10


def test_udp_links_are_bounded() -> None:
    reader = EventReader()
    assert reader.datagrams._links_max == TRACE_UDP_LINKS_MAX
    reader.datagrams._links_max = 500
    for client in range(510):
        reader.feed(datagram(client + 1, b"\xff", client))
    assert len(reader.datagrams._links) == 500
    reader.finish()
    assert reader.undecoded_bytes == 510


def test_scouts_are_bounded() -> None:
    reader = EventReader()
    payload = bytes(Scout(WhatAmIMatcher(1)))
    for client in range(TRACE_SCOUTS_MAX + 10):
        ends = Ends(f"10.0.0.1:{client}", "224.0.0.224:7446")
        reader.feed(UdpDatagram(client, client, ends, payload))
    assert len(reader.messages) == TRACE_SCOUTS_MAX + 10
    assert len(reader.datagrams._scouts) == TRACE_SCOUTS_MAX
    assert len(reader.datagrams._scouting) == TRACE_SCOUTS_MAX


def test_closed_sessions_are_evicted_first() -> None:
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


def test_sessions_are_found_without_a_search() -> None:
    """With many sessions, a search for each joining link or group would be slow."""
    sessions = Sessions([])
    began = []
    for number in range(3):
        link = Link(f"a-b#{number}", "tcp", "a:1", "b:2", True)
        began.append(sessions.begin(LinkBatch(link, 0, 1, 1, b"", [], "ok", None, 0)))
    assert sessions.found == began
    joined = LinkBatch(began[1].links[0], 0, 1, 1, b"", [], "ok", None, 0)
    sessions._merge(joined, began[1], began[0])
    assert sessions.found == [began[0], began[2]]
    assert sessions.found_count == 2
    assert not sessions.remembers(began[1])
    assert isinstance(sessions._found, dict)


def test_declarations_of_a_node_are_bounded() -> None:
    node, memory = Node("a:1"), KeyMemory()
    for number in range(1, TRACE_ENTITIES_MAX + 10):
        declare(node, Declare(DeclareSubscriber(number, WireExpr(0, KEY))), KEY, memory)
    assert len(node.entities) == TRACE_ENTITIES_MAX


def test_keys_of_all_nodes_are_bounded() -> None:
    assert KeyMemory().bytes_max == TRACE_KEY_BYTES_MAX
    node, memory = Node("a:1"), KeyMemory(bytes_max=2 * len(KEY))
    assert [memory.keep(node, KEY) for _ in range(3)] == [KEY, KEY, None]


def test_responses_of_an_exchange_are_bounded() -> None:
    built, walker = BuiltSession(), Exchanges()
    walker.feed(built.send(0, request(1)))
    for _ in range(10):
        walker.feed(built.send(1, reply(1, BLOCK)))
    (exchange,) = walker.finish()
    assert exchange.replies == 10
    assert len(exchange.responses) <= EXCHANGE_BYTES_MAX // MEBIBYTE + 1


def test_timelines_are_bounded_by_default() -> None:
    """Tests of the timelines test the limits themselves, with smaller values."""
    exchanges = Exchanges()
    assert exchanges._bytes_max == EXCHANGES_BYTES_MAX
    bounds = [
        (lifetimes._per_session_max, lifetimes._count_max)
        for lifetimes in (exchanges._open, Declarations()._open, Interests()._open)
    ]
    assert bounds == [
        (EXCHANGES_PER_SESSION_MAX, EXCHANGES_MAX),
        (DECLARATIONS_PER_SESSION_MAX, DECLARATIONS_MAX),
        (INTERESTS_PER_SESSION_MAX, INTERESTS_MAX),
    ]
