"""Names: the ids and keys that occur in a capture, found by decoding it.

It finds what a copy of the capture needs: the bytes of every ZenohId, and the first chunk of every
key with the bytes that may precede it. It is not a full reader: it stops reading a stream at an
error or a gap, and does not reassemble fragmented messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from zenlake.capture.packet import Packet
from zenlake.capture.stream_events import Flow, StreamBytes, StreamEvent, StreamGap
from zenlake.capture.tcp_streams import TcpStreams
from zenlake.capture.transport import Segment, TransportReader, UdpDatagram
from zenlake.errors import WireError
from zenlake.wire import (
    Batch,
    Init,
    LowLatencyUnit,
    Message,
    Open,
    Timestamp,
    WireExpr,
    ZenohId,
    decode_batch,
    decode_low_latency,
    decode_scouting,
)
from zenlake.wire.compression import decompress_batch
from zenlake.wire.framing import StreamDeframer

ZID_BYTES_MIN: Final = 6
"""Shorter ids are not replaced: their bytes occur in too many other places."""
CHUNK_BYTES_MIN: Final = 2
_SPECIAL: Final = frozenset("*$@")
_NOTHING: Final = b"(?!)"


class Names:
    """Ids by their bytes, and first chunks of keys with the bytes that precede them."""

    def __init__(self, packets: Iterable[Packet]) -> None:
        self.zids: set[bytes] = set()
        self.short_zids: set[bytes] = set()
        self.chunks: dict[bytes, set[int]] = {}
        self._connections: dict[Flow, _Connection] = {}
        self._pieces: dict[tuple[Flow, int], list[bytes]] = {}
        reader, streams = TransportReader(), TcpStreams()
        for packet in packets:
            found = reader.read(packet)
            if isinstance(found, Segment):
                self._read_stream(streams.feed(found))
            elif isinstance(found, UdpDatagram):
                self._collect(_datagram_messages(found.payload))
        self._read_stream(streams.finish())
        self.pattern = self._pattern()
        """Finds a `zid` or a `chunk`, the groups of these names, in the payload of a packet."""
        self.cut_names = self._cut_names()
        """How many names are divided between two TCP segments, so that no packet has them whole."""

    def _read_stream(self, events: Iterable[StreamEvent]) -> None:
        for event in events:
            connection = self._connections.get(event.flow)
            if connection is None:
                connection = self._connections[event.flow] = _Connection()
            if isinstance(event, StreamGap):
                connection.give_up(event.direction)
            elif isinstance(event, StreamBytes):
                self._pieces.setdefault((event.flow, event.direction), []).append(event.data)
                for messages in connection.messages(event):
                    self._collect(messages)

    def _collect(self, value: object) -> None:
        if isinstance(value, ZenohId):
            (self.zids if len(value.raw) >= ZID_BYTES_MIN else self.short_zids).add(value.raw)
        elif isinstance(value, Timestamp):
            self._collect(value.id)
        elif isinstance(value, WireExpr):
            if not value.scope:
                self._collect_key(value.suffix)
        elif isinstance(value, Message):
            for name in value.FIELDS:
                self._collect(getattr(value, name))
        elif isinstance(value, list | tuple):
            for part in value:
                self._collect(part)

    def _collect_key(self, key: str) -> None:
        text = key.partition("/")[0]
        chunk = text.encode()
        if len(chunk) >= CHUNK_BYTES_MIN and _SPECIAL.isdisjoint(text):
            size = len(key.encode())
            # A key follows its length, in an extension a zero.
            self.chunks.setdefault(chunk, {0}).add(size if size < 0x80 else size >> 7)

    def _pattern(self) -> re.Pattern[bytes]:
        """A pattern with the bytes around a chunk, so that it rarely matches text in payloads."""
        zids = [re.escape(zid) for zid in _longest_first(self.zids)]
        chunks = []
        for chunk in _longest_first(self.chunks):
            text, alone = re.escape(chunk), re.escape(bytes([len(chunk)]))
            before = re.escape(bytes(sorted(self.chunks[chunk])))
            chunks.append(b"(?<=[%b])%b(?=/)|(?<=%b)%b" % (before, text, alone, text))
        parts = b"|".join(zids) or _NOTHING, b"|".join(chunks) or _NOTHING
        return re.compile(b"(?P<zid>%b)|(?P<chunk>%b)" % parts, re.DOTALL)

    def _cut_names(self) -> int:
        count = 0
        for pieces in self._pieces.values():
            count += len(self.pattern.findall(b"".join(pieces)))
            count -= sum(len(self.pattern.findall(piece)) for piece in pieces)
        return count


class _Connection:
    """Divides both directions of a TCP connection into messages, on the terms of the handshake."""

    def __init__(self) -> None:
        self._deframers: list[StreamDeframer | None] = [StreamDeframer(), StreamDeframer()]
        self._is_open = [False, False]
        self._is_low_latency = False
        self._is_compressed = False

    def give_up(self, direction: int) -> None:
        self._deframers[direction] = None

    def messages(self, event: StreamBytes) -> Iterator[list[Message]]:
        deframer = self._deframers[event.direction]
        if deframer is None:
            return
        try:
            deframer.feed(event.data)
            while (data := deframer.next_batch()) is not None:
                unit = self._decode(data, self._is_open[event.direction])
                if unit.error is not None:
                    raise unit.error
                for message in unit.messages:
                    self._follow_handshake(message, event.direction, deframer)
                yield list(unit.messages)
        except WireError:
            self.give_up(event.direction)

    def _decode(self, data: bytes, is_open: bool) -> Batch | LowLatencyUnit:
        if is_open and self._is_low_latency:
            return decode_low_latency(data)
        if is_open and self._is_compressed:
            data = decompress_batch(data)
        return decode_batch(data)

    def _follow_handshake(self, message: Message, direction: int, deframer: StreamDeframer) -> None:
        """Terms that INIT_ACK repeats from the offer are agreed, and apply from OPEN on."""
        if isinstance(message, Init) and message.cookie is not None:
            self._is_low_latency = bool(message.lowlatency)
            self._is_compressed = bool(message.compression)
        elif isinstance(message, Open):
            self._is_open[direction] = True
            if self._is_low_latency:
                deframer.switch_to_low_latency()


def _datagram_messages(data: bytes) -> list[Message]:
    """SCOUT and HELLO have the ids of INIT and OPEN, which are longer."""
    try:
        message, end = decode_scouting(data, 0)
        if end == len(data):
            return [message]
    except WireError:
        pass
    batch = decode_batch(data)
    return list(batch.messages) if batch.error is None else []


def _longest_first(texts: Iterable[bytes]) -> list[bytes]:
    return sorted(texts, key=lambda text: (-len(text), text))
