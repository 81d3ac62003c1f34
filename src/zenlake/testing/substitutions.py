"""Substitutions: the values that differ between the copies of captured packets.

A packet is divided into parts. A part is either bytes that all copies share, or a value that
differs in each copy: a name, or an IPv4 checksum with its addresses. A value has the length of the
original. Values are shared between packets, so that a copy costs little more than joining parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import blake2b
from struct import Struct
from typing import Final, NamedTuple

from zenlake.capture.link_layer import IPV4, IPV6, network_layer
from zenlake.capture.packet import Packet
from zenlake.capture.transport import TCP, UDP
from zenlake.errors import LocalError
from zenlake.testing.names import Names

Part = tuple[int, int]
"""The table, and the index in it."""
_SHARED: Final = 0
_NAMES: Final = 1
_HEADERS: Final = 2

_DIGITS: Final = b"0123456789abcdefghijklmnopqrstuvwxyz"
_HOSTS_MAX: Final = (1 << 24) - 2
_CLOCKS_APART_S_MAX: Final = 3600
_NS_PER_S: Final = 1_000_000_000
_CHECKSUMS: Final = [(0xFFFF - words).to_bytes(2, "big") for words in range(0xFFFF)]
_four_words: Final = Struct("!4H").unpack


class Source(NamedTuple):
    """One of the captures that are copied."""

    number: int
    names: Names
    shift_s: int
    """The delay of its first copy."""


class Substitutions:
    """Divides packets into parts: pass each to `cut`, then `values` has those of a copy."""

    def __init__(self, period_s: int, seed: int) -> None:
        self._period_s = period_s
        self._seed = seed
        self.shared: list[bytes] = []
        self._names: dict[tuple[object, ...], int] = {}
        self._makers: list[Callable[[int], bytes]] = []
        self._hosts: dict[tuple[int, bytes], int] = {}
        self._chunks: dict[int, dict[tuple[int, bytes], int]] = {}
        """Chunks by length: those of one length share the numbers of that length."""
        self._headers: dict[tuple[int, int], int] = {}
        """Indices of IPv4 headers in the names, by the sum of a header without its addresses."""
        self._pairs: set[int] = set()

    def cut(self, packet: Packet, source: Source) -> list[Part]:
        """The parts of a packet, from its first byte to its last."""
        parts: list[Part] = []
        place = 0
        for start, end, part in self._edits(packet, source):
            parts += (self._share(packet.data[place:start]), part)
            place = end
        return [*parts, self._share(packet.data[place:])]

    def places(self, parts: list[Part], values_start: int) -> list[int]:
        """Indices of parts in a list of the shared bytes followed by the values of a copy."""
        starts = (0, values_start, values_start + len(self._makers))
        return [starts[table] + place for table, place in parts]

    def values(self, copy: int) -> list[bytes]:
        names = [make(copy) for make in self._makers]
        sums = {pair: sum(_four_words(names[pair])) for pair in self._pairs}
        headers = [
            _CHECKSUMS[(rest + sums[pair]) % 0xFFFF] + names[pair] for rest, pair in self._headers
        ]
        return names + headers

    def values_count(self) -> int:
        return len(self._makers) + len(self._headers)

    def _edits(self, packet: Packet, source: Source) -> Iterator[tuple[int, int, Part]]:
        """The replaced ranges in the order of bytes: start, stop, and the part."""
        data = packet.data
        ethertype, ip = network_layer(packet.link_type, data)
        if ethertype == IPV4 and len(data) >= ip + 20:
            start = ip + max((data[ip] & 15) * 4, 20)
            rest = data[ip : ip + 10] + data[ip + 20 : start]
            yield ip + 10, ip + 20, self._header(rest, data[ip + 12 : ip + 20], source)
            is_first = not (data[ip + 6] & 0x1F or data[ip + 7])
            protocol = data[ip + 9] if is_first else 0
        elif ethertype == IPV6 and len(data) >= ip + 40:
            start = ip + 40
            yield ip + 8, start, (_NAMES, self._addresses(data[ip + 8 : start], source))
            protocol = data[ip + 6]
        else:
            return
        if protocol == TCP and len(data) >= start + 20:
            yield start + 16, start + 18, self._share(b"\0\0")
            start += max(data[start + 12] >> 4 << 2, 20)
        elif protocol == UDP and len(data) >= start + 8:
            yield start + 6, start + 8, self._share(b"\0\0")
            start += 8
        yield from self._name_edits(packet, start, source)

    def _name_edits(
        self, packet: Packet, start: int, source: Source
    ) -> Iterator[tuple[int, int, Part]]:
        data = packet.data
        for match in source.names.pattern.finditer(data, start):
            name, place = match[0], match.start()
            if match.lastgroup == "chunk":
                part = self._chunk(name, source)
            else:
                part = self._zid(name, source)
                if place - 10 >= start and data[place - 1] == len(name):
                    upper = _upper_time(data[place - 10 : place - 1], packet.time_ns)
                    if upper:
                        yield place - 6, place - 1, self._time(upper, source)
            yield place, match.end(), part
            start = match.end()

    def _share(self, data: bytes) -> Part:
        self.shared.append(data)
        return _SHARED, len(self.shared) - 1

    def _name(self, key: tuple[object, ...], make: Callable[[int], bytes]) -> int:
        place = self._names.setdefault(key, len(self._makers))
        if place == len(self._makers):
            self._makers.append(make)
        return place

    def _header(self, rest: bytes, addresses: bytes, source: Source) -> Part:
        words = sum(rest[::2]) * 256 + sum(rest[1::2])
        pair = self._addresses(addresses, source)
        self._pairs.add(pair)
        return _HEADERS, self._headers.setdefault((words, pair), len(self._headers))

    def _addresses(self, pair: bytes, source: Source) -> int:
        half = len(pair) // 2
        ends = [self._address(address, source) for address in (pair[:half], pair[half:])]
        return self._name(
            ("addresses", source.number, pair), lambda copy: ends[0](copy) + ends[1](copy)
        )

    def _address(self, address: bytes, source: Source) -> Callable[[int], bytes]:
        """A host of 10.0.0.0/8 or fd00::/8. Groups, broadcast and 'any' are kept."""
        if address[0] >= (0xE0 if len(address) == 4 else 0xFF) or not any(address):
            return lambda copy: address
        host = self._hosts.setdefault((source.number, address), len(self._hosts))

        def make(copy: int) -> bytes:
            number = copy * len(self._hosts) + host + 1
            if number > _HOSTS_MAX:
                raise LocalError(f"no more than {_HOSTS_MAX} hosts, so not {copy} copies")
            return (b"\x0a" if len(address) == 4 else b"\xfd".ljust(13, b"\0")) + number.to_bytes(3)

        return make

    def _zid(self, zid: bytes, source: Source) -> Part:
        """The last byte is kept: it must not be zero, and the id keeps its number of digits."""

        def make(copy: int) -> bytes:
            text = b"%d/%d/%d/%b" % (self._seed, source.number, copy, zid)
            return blake2b(text, digest_size=len(zid) - 1).digest() + zid[-1:]

        return _NAMES, self._name(("zid", source.number, zid), make)

    def _chunk(self, chunk: bytes, source: Source) -> Part:
        """A chunk that is a number; short chunks reuse numbers when all were used."""
        alike = self._chunks.setdefault(len(chunk), {})
        index = alike.setdefault((source.number, chunk), len(alike))

        def make(copy: int) -> bytes:
            number = self._seed + copy * len(alike) + index
            text = bytearray()
            for _ in chunk:
                number, digit = divmod(number, 36)
                text.append(_DIGITS[digit])
            return bytes(reversed(text))

        return _NAMES, self._name(("chunk", source.number, chunk), make)

    def _time(self, upper: int, source: Source) -> Part:
        def make(copy: int) -> bytes:
            time = upper + (source.shift_s + copy * self._period_s << 4)
            low = (time >> shift & 0x7F | 0x80 for shift in (0, 7, 14, 21))
            return bytes((*low, time >> 28 & 0xFF))

        return _NAMES, self._name(("time", source.number, upper), make)


def _upper_time(data: bytes, packet_ns: int) -> int:
    """The upper 36 of the 64 bits of a time near that of the packet; 0 if it is not such a time.

    The encoded time has nine bytes; the upper 36 bits are in the last five, the seconds in the
    upper 32. So whole seconds are added there, and times within 1/16 s share a value.
    """
    if any(byte < 0x80 for byte in data[:8]):
        return 0
    upper = data[8] << 28
    for index in range(4):
        upper |= (data[4 + index] & 0x7F) << 7 * index
    return upper if abs((upper >> 4) - packet_ns // _NS_PER_S) <= _CLOCKS_APART_S_MAX else 0
