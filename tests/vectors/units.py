"""What one transport unit carries: batches, compressed batches, low-latency units.

Vectors 53, 68 and 73 to 76 of the wire reference §12, and an empty batch (§6.1).
"""

from __future__ import annotations

from tests.vectors.vector import Unit
from zenlake.wire import Close, Frame, KeepAlive, Push, Put, WireExpr

_PUSH_1 = Push(WireExpr(1, "/b", sender=False), Put(b"1"))

UNITS = (
    Unit(53, "stream", "01 00 04", "KEEP_ALIVE on TCP", (KeepAlive(),)),
    Unit(
        68,
        "batch",
        "25 64 7d 00 03 6b 2f 61 01 02 76 31 04 25 65 7d 00 03 6b 2f 61 01 02 76 32",
        "FRAME, KEEP_ALIVE, FRAME in one batch",
        (
            Frame(100, [Push(WireExpr(0, "k/a"), Put(b"v1"))]),
            KeepAlive(),
            Frame(101, [Push(WireExpr(0, "k/a"), Put(b"v2"))]),
        ),
        "D",
    ),
    Unit(
        73,
        "cbatch",
        "00 25 a4 b9 f1 24 3d 01 02 2f 62 01 01 31",
        "compression on, stored uncompressed",
        (Frame(77356196, [_PUSH_1]),),
    ),
    Unit(
        74,
        "cbatch",
        "01 ef 25 a5 b9 f1 24 3d 01 02 2f 62 01 c8 01 41 01 00 ae 60 41 41 41 41 41 41",
        'LZ4: FRAME with PUT of 200 x "A" (213 bytes plain)',
        (Frame(77356197, [Push(WireExpr(1, "/b", sender=False), Put(b"A" * 200))]),),
    ),
    Unit(75, "ll", "08 00 00 00 3d 01 02 2f 62 01 01 31", "low-latency PUSH", (_PUSH_1,)),
    Unit(76, "ll", "01 00 00 00 04", "low-latency KEEP_ALIVE", (KeepAlive(),)),
    Unit("close", "ll", "02 00 00 00 03 00", "low-latency CLOSE", (Close(0),)),
    Unit("empty", "stream", "00 00", "an empty batch", ()),
    Unit(
        "empty frame", "batch", "25 64 04", "a FRAME of nothing", (Frame(100, []), KeepAlive()), "D"
    ),
)
