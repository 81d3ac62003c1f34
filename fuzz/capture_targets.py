"""Fuzz targets for recorded traffic: invariants for any file, any segments and any packets.

Only CaptureError may be raised, and only for files. All output was in the input, and nothing is
counted twice.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.paths import CAPTURES
from tests.trace.event_reader import EventReader
from zenlake import trace as zenlake_trace
from zenlake.capture.files import packets
from zenlake.capture.packet import Packet, Skipped
from zenlake.capture.stream_events import (
    StreamBytes,
    StreamClosed,
    StreamEvent,
    StreamGap,
    StreamOpened,
)
from zenlake.capture.tcp_streams import TcpStreams
from zenlake.capture.transport import ACK, FIN, RST, SYN, Ends, Segment
from zenlake.errors import CaptureError
from zenlake.trace import MessageSeen, TraceEvent, Undecoded
from zenlake.wire import decode_scouting, decode_transport
from zenlake.wire.codec import decode
from zenlake.wire.message import Message, NetworkMessage, ScoutingMessage

SMALL_CAPTURES = ("ipv6_router.pcapng", "pico_reopened.pcapng", "pico_peers.pcapng")
MORE_CAPTURES = ("compressed_midstream.pcapng.gz", "lowlatency_midstream.pcapng.gz")
PCAP_HEAD = bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000")
PCAPNG_HEAD = bytes.fromhex(
    "0a0d0d0a1c0000004d3c2b1a01000000ffffffffffffffff1c000000"
    "010000001400000001000000ffff000014000000"
)
_MASK = 0xFFFF_FFFF
_STREAMS = (Random(1).randbytes(1 << 17), Random(2).randbytes(1 << 17))
_FLAGS = (ACK, ACK, ACK, SYN, SYN | ACK, FIN | ACK, RST, 0)
_WINDOW = 40
_FILE = Path("/dev/shm" if os.path.isdir("/dev/shm") else tempfile.gettempdir())
_PATH = _FILE / f"zenlake-fuzz-{os.getpid()}"


def pcap(data: bytes) -> None:
    _packets(data if data[:4] in (PCAP_HEAD[:4], b"\xa1\xb2\x3c\x4d") else PCAP_HEAD + data)


def pcapng(data: bytes) -> None:
    _packets(data if data[:4] == PCAPNG_HEAD[:4] else PCAPNG_HEAD + data)


def _packets(content: bytes) -> None:
    _PATH.write_bytes(content)
    skipped = Skipped()
    count = size = 0
    try:
        for packet in packets([str(_PATH)], skipped):
            count += 1
            size += len(packet.data)
            assert packet.number == count
            assert packet.time_ns >= 0
    except CaptureError:
        return
    assert size + sum(skipped.bytes.values()) <= len(content)
    assert count <= len(content) // 16


def tcp(data: bytes) -> None:
    """Each four bytes are a segment of one of two streams whose bytes are known."""
    streams = TcpStreams()
    ends = (Ends("a:1", "b:2"), Ends("b:2", "a:1"))
    base = (data[0] << 24 | 0xFF00) if data else 0
    fed = [0, 0]
    for number, at in enumerate(range(1, len(data) - 3, 4), 1):
        head, where, more, size = data[at : at + 4]
        side, flags = head & 1, _FLAGS[head >> 1 & 7]
        place = where << 2 | head >> 6
        place += (more & 0x0F) << 12 if more & 0x80 else 0
        body = b"" if flags & SYN else _STREAMS[side][place : place + size]
        missing = more & 0x1F if more & 0x40 else 0
        seq = base + place - (1 if flags & SYN else 0) & _MASK
        ack = base + (data[at - 1] << 4) & _MASK
        segment = Segment(number, number * 10**8, ends[side], seq, ack, flags, body, missing)
        fed[side] += len(body)
        _check(streams.feed(segment), fed)
    _check(streams.finish(), fed)


def _check(events: Iterable[StreamEvent], left: list[int]) -> None:
    """Check that reported bytes were fed to the reported side, each once."""
    for event in events:
        side = 0 if event.flow.source == "a:1" else 1
        side ^= event.direction
        if isinstance(event, StreamBytes):
            left[side] -= len(event.data)
            assert left[side] >= 0
            assert event.data
            assert event.data in _STREAMS[side]
        elif isinstance(event, StreamGap):
            assert event.missing_bytes is None or event.missing_bytes > 0
        else:
            assert isinstance(event, (StreamOpened, StreamClosed))


def trace(data: bytes) -> None:
    """A whole trace, from a file."""
    known = data[:4] in (PCAP_HEAD[:4], PCAPNG_HEAD[:4])
    _PATH.write_bytes(data if known else PCAPNG_HEAD + data)
    read = zenlake_trace.open(str(_PATH))
    events: list[TraceEvent] = []
    with suppress(CaptureError):
        events.extend(read)
    _check_events(events, len(data))


def changed_packets(data: bytes) -> None:
    """A whole trace, from packets of a real capture, with changes chosen by `data`."""
    if len(data) < 3:
        return
    chosen = _captured(data[0] % (len(SMALL_CAPTURES) + len(MORE_CAPTURES)))
    start = (data[1] << 8 | data[2]) % len(chosen)
    window = [packet.data for packet in chosen[start : start + _WINDOW]]
    for at in range(3, len(data) - 3, 4):
        _change(window, *data[at : at + 4])
    walked = EventReader()
    for i, content in enumerate(window):
        size = len(chosen[start].data) if not content else len(content)
        walked.packet(
            Packet(i + 1, i * 10**7, chosen[0].link_type, content, max(size, len(content)))
        )
    walked.finish()
    _check_events(walked.events, sum(map(len, window)))


@cache
def _captured(index: int) -> list[Packet]:
    name = (*SMALL_CAPTURES, *MORE_CAPTURES)[index]
    return list(packets([str(CAPTURES / name)], Skipped()))


def _change(window: list[bytes], how: int, which: int, place: int, value: int) -> None:
    if not window:
        return
    index = which % len(window)
    one = window[index]
    at = 54 + place % max(len(one) - 54, 1)
    kind = how % 8
    if kind == 0:
        del window[index]
    elif kind == 1:
        window.insert(value % len(window), one)
    elif kind == 2:
        window.insert(value % len(window), window.pop(index))
    elif kind == 3:
        window[index] = one[:at]
    elif kind == 4:
        window[index] = one[:at] + bytes((value,)) * (place + 1) + one[at + place + 1 :]
    else:
        window[index] = one[:at] + bytes((value,)) + one[at + 1 :]


def _check_events(events: list[TraceEvent], size: int) -> None:
    undecoded = 0
    for event in events:
        if isinstance(event, MessageSeen):
            assert _again(event.message) == event.message
            assert repr(event)
        elif isinstance(event, Undecoded) and not event.cause.startswith("in fragments"):
            undecoded += event.bytes
    assert undecoded <= size


def _again(message: Message) -> Message:
    data = bytes(message)
    if isinstance(message, ScoutingMessage):
        return decode_scouting(data, 0)[0]
    if isinstance(message, NetworkMessage):
        return decode(data, "network")
    return decode_transport(data, 0)[0]


TARGETS: dict[str, Callable[[bytes], None]] = {
    "pcap": pcap,
    "pcapng": pcapng,
    "tcp": tcp,
    "trace": trace,
    "packets": changed_packets,
}
