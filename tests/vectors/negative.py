"""What a codec must refuse (the wire reference §12.7; those that need a session are not here).

N3 and N16 are accepted, and stand in `ACCEPTED` with what they mean.
"""

from __future__ import annotations

from tests.vectors.vector import NegativeVector, Vector, zid
from zenlake.wire import Extension, Frame, Init, Push, Put, Resolution, WhatAmI, WireExpr

NEGATIVE = (
    NegativeVector(
        "N2",
        "c1 09 02 05 0a ff ff 9c 01",
        "InitSyn, unknown mandatory extension",
        "INIT",
        "extensions",
        7,
        "unknown extension 0x1c is mandatory",
    ),
    NegativeVector(
        "N4",
        "c1 09 02 05 0a ff ff 11",
        "InitSyn, QoS marked mandatory is another extension",
        "INIT",
        "extensions",
        7,
        "unknown extension 0x11 is mandatory",
    ),
    NegativeVector(
        "N5",
        "c1 09 02 05 0a ff ff 6c",
        "InitSyn, reserved extension encoding",
        "INIT",
        "extensions",
        7,
        "extension 0xc has the reserved encoding 0b11",
    ),
    NegativeVector(
        "N7",
        "c1 09 03 05 0a ff ff 01",
        "InitSyn, role 3",
        "INIT",
        "whatami",
        2,
        "role 3 is reserved",
    ),
    NegativeVector(
        "N8", "c1 09 02 00 0a ff ff 01", "InitSyn, ZID zero", "INIT", "zid", 3, "the id is zero"
    ),
    NegativeVector(
        "N14",
        "25 64 7d 00 03 6b 2f 61 01 02 76 31 18 00",
        "FRAME with a valid PUSH, then id 0x18",
        "transport",
        "header",
        12,
        "0x18 is no transport message",
        delivered=1,
    ),
    NegativeVector(
        "N15",
        "25 64 fd 00 03 6b 2f 61 1e 01 02 76 31",
        "PUSH with an unknown mandatory extension",
        "PUSH",
        "extensions",
        8,
        "unknown extension 0x1e is mandatory",
        delivered=1,
    ),
)

ACCEPTED = (
    Vector(
        "N3",
        "c1 09 02 05 0a ff ff 8c 01",
        "InitSyn, unknown optional extension before QoS",
        Init(
            WhatAmI.CLIENT,
            zid("5"),
            resolution=Resolution(0x0A),
            batch_size=65535,
            qos=True,
            extensions=(Extension(0x0C),),
        ),
    ),
    Vector(
        "N16",
        "25 64 fd 00 03 6b 2f 61 0e 01 02 76 31",
        "PUSH with an unknown optional extension",
        Frame(100, [Push(WireExpr(0, "k/a"), Put(b"v1"), extensions=(Extension(0x0E),))]),
    ),
)
