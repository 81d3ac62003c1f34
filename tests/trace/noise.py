"""Noise: payloads of other protocols, and conversations made of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from struct import pack
from typing import Final

from zenlake.capture.transport import ACK, FIN, SYN, Ends, Segment, UdpDatagram

PORT: Final = 7447
PAYLOAD_BYTES_MAX: Final = 1_460
_MASK: Final = 0xFFFF_FFFF
_MILLISECOND: Final = 1_000_000
_WORDS: Final = [
    "the",
    "a",
    "robot",
    "sensor",
    "value",
    "temperature",
    "speed",
    "of",
    "in",
    "and",
    "is",
    "on",
    "at",
    "position",
    "error",
    "ok",
    "null",
    "true",
    "demo",
    "example",
    "key",
    "put",
    "get",
    "topic",
    "level",
    "info",
    "warn",
    "debug",
    "started",
    "stopped",
    "0",
    "1",
    "2",
    "42",
    "3.14",
    "-1",
]

Payload = Callable[[random.Random], bytes]
"""Makes one message of a protocol, of any size."""


def size(chance: random.Random) -> int:
    """A random size; small sizes are as frequent as large ones."""
    return chance.randrange(1, chance.choice((4, 16, 64, 256, PAYLOAD_BYTES_MAX)) + 1)


def random_bytes(chance: random.Random) -> bytes:
    return chance.randbytes(size(chance))


def one_byte(chance: random.Random) -> bytes:
    """One repeated byte, as in padding and test data; mostly zero."""
    return bytes((chance.choice((0, 0, chance.randrange(256))),)) * size(chance)


def short_pattern(chance: random.Random) -> bytes:
    """A few bytes, repeated."""
    pattern = bytes(chance.choices(range(8), k=chance.randrange(2, 9)))
    if chance.random() < 0.3:
        pattern = chance.randbytes(chance.randrange(2, 9))
    return pattern * (size(chance) // len(pattern) + 1)


def text(chance: random.Random) -> bytes:
    return " ".join(chance.choices(_WORDS, k=1 + size(chance) // 5)).encode()


def log_lines(chance: random.Random) -> bytes:
    lines = (f"{chance.random():.6f} {text(chance).decode()[:70]}" for _ in range(5))
    return "\n".join(lines).encode()[: size(chance)]


def small_integers(chance: random.Random) -> bytes:
    """Little-endian integers, as the lengths of Zenoh are."""
    code, width = chance.choice((("<H", 2), ("<I", 4), ("<Q", 8), ("<B", 1)))
    top = chance.choice((2, 8, 32, 128))
    count = size(chance) // width + 1
    return b"".join(pack(code, chance.randrange(top)) for _ in range(count))


def counted_records(chance: random.Random) -> bytes:
    """Records after their little-endian length, with a type byte first, similar to Zenoh."""
    out = []
    for _ in range(chance.randrange(1, 12)):
        body = bytes((chance.randrange(32),)) + chance.randbytes(chance.randrange(40))
        out.append(pack("<H", len(body)) + body)
    return b"".join(out)


def tls(chance: random.Random) -> bytes:
    body = chance.randbytes(size(chance))
    return pack("!BHH", chance.choice((0x14, 0x15, 0x16, 0x17)), 0x0303, len(body)) + body


def http(chance: random.Random) -> bytes:
    if chance.random() < 0.5:
        return b"GET /" + text(chance)[:40] + b" HTTP/1.1\r\nHost: example\r\n\r\n"
    body = text(chance)
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def ssh(chance: random.Random) -> bytes:
    body = chance.randbytes(size(chance))
    return chance.choice((b"SSH-2.0-OpenSSH_9.6\r\n", pack("!IB", len(body) + 1, 4) + body))


def dns(chance: random.Random) -> bytes:
    names = b"".join(bytes((len(word),)) + word.encode() for word in chance.choices(_WORDS, k=3))
    return pack("!6H", chance.randrange(65536), 0x0100, 1, 0, 0, 0) + names + b"\0\0\1\0\1"


def mqtt(chance: random.Random) -> bytes:
    topic, body = b"demo/" + chance.choice(_WORDS).encode(), text(chance)[:100]
    rest = pack("!H", len(topic)) + topic + body
    return b"\x30" + bytes((len(rest) & 0x7F,)) + rest


def http2(chance: random.Random) -> bytes:
    body = chance.randbytes(chance.randrange(60))
    head = pack("!I", len(body))[1:] + bytes((chance.randrange(10), chance.randrange(6)))
    return head + pack("!I", chance.randrange(9)) + body


def floats(chance: random.Random) -> bytes:
    return b"".join(pack("<f", chance.gauss(0, 10)) for _ in range(size(chance) // 4 + 1))


PAYLOADS: dict[str, Payload] = {
    "random": random_bytes,
    "one byte": one_byte,
    "pattern": short_pattern,
    "text": text,
    "log": log_lines,
    "integers": small_integers,
    "records": counted_records,
    "TLS": tls,
    "HTTP": http,
    "SSH": ssh,
    "DNS": dns,
    "MQTT": mqtt,
    "HTTP/2": http2,
    "floats": floats,
}


def conversation(
    chance: random.Random, payload: Payload, number: int, count: int
) -> Iterator[Segment | UdpDatagram]:
    """`count` packets between two addresses, numbered from `first`."""
    client = f"10.{chance.randrange(256)}.{chance.randrange(256)}.1:{chance.randrange(1024, 65536)}"
    ends = (Ends(client, f"10.0.0.2:{PORT}"), Ends(f"10.0.0.2:{PORT}", client))
    way = chance.choice(("tcp", "tcp", "tcp without SYN", "udp", "group"))
    if way == "group":
        ends = (Ends(client, f"224.0.0.224:{PORT}"),) * 2
    if way in ("udp", "group"):
        for i in range(number, number + count):
            yield UdpDatagram(i, i * _MILLISECOND, chance.choice(ends), payload(chance))
        return
    seqs = [chance.randrange(1 << 32), chance.randrange(1 << 32)]
    if way == "tcp":
        yield Segment(number, number * _MILLISECOND, ends[0], seqs[0] - 1 & _MASK, 0, SYN, b"")
        acknowledged = seqs[1] - 1 & _MASK
        yield Segment(
            number + 1, (number + 1) * _MILLISECOND, ends[1], acknowledged, seqs[0], SYN | ACK, b""
        )
        number, count = number + 2, count - 2
    both = chance.random() < 0.5
    for i in range(number, number + count):
        side = chance.randrange(2) if both else 1
        data = payload(chance)[:PAYLOAD_BYTES_MAX]
        flags = ACK | FIN if i == number + count - 1 else ACK
        yield Segment(i, i * _MILLISECOND, ends[side], seqs[side], seqs[1 - side], flags, data)
        seqs[side] = seqs[side] + len(data) & _MASK
