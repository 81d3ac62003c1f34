"""Captures of very many TCP connections with a single segment each, as a port scan has them.

python -m tests.hostile.many_flows KIND FILE [COUNT] writes one.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

from zenlake.wire import Frame, Push, Put
from zenlake.wire.values.wire_expr import WireExpr

INIT = bytes.fromhex("0400010900aa")
"""An INIT_SYN after its length."""
ACK, SYN = 0x10, 0x02
KINDS = ("syn", "ack", "frame", "init", "noise", "mixed")


def frame_unit(sn: int) -> bytes:
    """A FRAME with one publication, after its length."""
    unit = bytes(Frame(sn, [Push(WireExpr(0, "robot/pose"), Put(b"x" * 16))]))
    return struct.pack("<H", len(unit)) + unit


def segments(kind: str, count: int) -> Iterator[tuple[int, bytes]]:
    """Flags and payload of the only segment of each connection."""
    chance = Random(7)
    for number in range(count):
        chosen = KINDS[number % (len(KINDS) - 1)] if kind == "mixed" else kind
        if chosen == "syn":
            yield SYN, b""
        elif chosen == "ack":
            yield ACK, b""
        elif chosen == "frame":
            yield ACK, frame_unit(chance.randrange(1 << 28))
        elif chosen == "init":
            yield ACK, INIT
        else:
            yield ACK, chance.randbytes(40)


def write(path: Path, kind: str, count: int) -> Path:
    """A pcap of raw IPv4 packets, a microsecond apart."""
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 101))
        for number, (flags, payload) in enumerate(segments(kind, count)):
            address = 0x0A000001 + number // 60_000
            port = 1_024 + number % 60_000
            size = 40 + len(payload)
            ip = struct.pack("!BBHHHBBHII", 69, 0, size, 0, 0, 64, 6, 0, address, 0x0B000001)
            tcp = struct.pack("!HHIIBBHHH", port, 7447, 1_000, 0, 0x50, flags, 0, 0, 0)
            seconds, rest = divmod(number, 1_000_000)
            file.write(struct.pack("<IIII", 1_700_000_000 + seconds, rest, size, size))
            file.write(ip + tcp + payload)
    return path


if __name__ == "__main__":
    write(Path(sys.argv[2]), sys.argv[1], int(sys.argv[3]) if len(sys.argv) > 3 else 300_000)
