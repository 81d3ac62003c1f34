"""PUSH and network OAM (the wire reference §12.6)."""

from __future__ import annotations

from tests.vectors.vector import LinkStateVector, Vector, zid
from zenlake.wire import (
    Del,
    Encoding,
    LinkState,
    LinkStateList,
    Oam,
    Push,
    Put,
    QoS,
    SourceInfo,
    StampRecord,
    Timestamp,
    TimestampStack,
    WhatAmI,
    WireExpr,
)

DEMO_A = WireExpr(0, "demo/a")
TEXT = Encoding(4)
ME = zid("1020304050")
NEW_NODE = (
    "02 03 02 00 01 a3 01 00 06 00 03 01 01 13 74 63 70 2f 31 32 37 2e 30 2e 30 2e 31 3a 31 37 38"
    "31 32 02 01 02"
)


def stamp(time: int, id: str = "bb") -> Timestamp:
    return Timestamp(time, zid(id))


LINK_STATES = (
    LinkStateVector(123, "00", "an empty list", LinkStateList(())),
    LinkStateVector(
        124,
        NEW_NODE,
        "new node a3 = psid 2; own entry without zid, links 1 and 2",
        LinkStateList(
            (
                # Options 03: zid and whatami; whatami 01 is the router's bit.
                LinkState(psid=2, sn=0, links=(), zid=zid("a3"), whatami=WhatAmI.ROUTER),
                LinkState(
                    psid=0,
                    sn=3,
                    links=(1, 2),
                    whatami=WhatAmI.ROUTER,
                    locators=("tcp/127.0.0.1:17812",),
                ),
            )
        ),
    ),
)

VECTORS = (
    Vector(
        100,
        "7d 00 06 64 65 6d 6f 2f 61 41 09 05 75 74 66 2d 38 02 68 69",
        'PUT "hi" text/plain;utf-8',
        Push(DEMO_A, Put(b"hi", encoding=Encoding(4, b"utf-8"))),
    ),
    Vector(
        101,
        "7d 00 06 64 65 6d 6f 2f 61 41 0a 02 7b 7d",
        "PUT application/json",
        Push(DEMO_A, Put(b"{}", encoding=Encoding(5))),
    ),
    Vector(
        102,
        "7d 00 06 64 65 6d 6f 2f 61 41 ff ff 07 0a 66 6f 6f 2f 62 61 72 3b 76 31 01 31",
        "PUT custom encoding foo/bar;v1",
        Push(DEMO_A, Put(b"1", encoding=Encoding(0xFFFF, b"foo/bar;v1"))),
    ),
    Vector(
        103,
        "7d 00 06 64 65 6d 6f 2f 61 81 43 03 61 74 74 01 31",
        'PUT with attachment "att"',
        Push(DEMO_A, Put(b"1", attachment=b"att")),
    ),
    Vector(
        104,
        "7d 00 06 64 65 6d 6f 2f 61 21 a5 ba 96 d2 99 d9 c0 fc 6a 05 50 40 30 20 10 01 31",
        "PUT with timestamp",
        Push(DEMO_A, Put(b"1", timestamp=Timestamp(0x6AF902C99A459D25, ME))),
    ),
    Vector(
        105,
        "3d 01 02 2f 7a 81 41 05 00 aa 06 ac 02 01 31",
        "PUT with SourceInfo aa/6 sn 300",
        Push(WireExpr(1, "/z", sender=False), Put(b"1", source_info=SourceInfo(zid("aa"), 6, 300))),
    ),
    Vector(
        106,
        "fd 00 06 64 65 6d 6f 2f 61 21 25 01 01 31",
        "PUSH BlockFirst (F) priority Data",
        Push(DEMO_A, Put(b"1"), qos=QoS(0x25)),
    ),
    Vector(
        107,
        "5d 09 41 08 01 32",
        "PUSH sender scope 9, no suffix, text/plain",
        Push(WireExpr(9), Put(b"2", encoding=TEXT)),
    ),
    Vector(108, "7d 00 06 64 65 6d 6f 2f 61 02", "DEL", Push(DEMO_A, Del())),
    Vector(
        109,
        "7d 00 06 64 65 6d 6f 2f 61 a2 bd b3 8c b2 a1 d9 c0 fc 6a 05 50 40 30 20 10 42 02 7a 7a",
        'DEL with timestamp and attachment "zz"',
        Push(DEMO_A, Del(timestamp=Timestamp(0x6AF902CA164319BD, ME), attachment=b"zz")),
    ),
    Vector(
        110,
        "bd 01 02 2f 31 33 02 21 e0 a3 e7 e6 c8 c9 c1 fc 6a 01 a3 01 50",
        "relayed PUSH with NodeId 2",
        Push(
            WireExpr(1, "/1", sender=False),
            Put(b"P", timestamp=stamp(0x6AF9064C8CD9D1E0, "a3")),
            node_id=2,
        ),
    ),
    Vector(
        111,
        "bd 01 02 2f 61 47 1c 07 02 01 0b f0 f7 fa e8 c1 a8 c1 fc 6a 01 bb"
        "02 0b 90 d0 82 e9 c1 a8 c1 fc 6a 01 bb 21 e0 9b fa e8 c1 a8 c1 fc 6a 01 bb 01 31",
        "PUSH with TsStack of two records",
        Push(
            WireExpr(1, "/a", sender=False),
            Put(b"1", timestamp=stamp(0x6AF905441D1E8DE0)),
            stamps=TimestampStack(
                7,
                (
                    StampRecord(1, bytes.fromhex("f0 f7 fa e8 c1 a8 c1 fc 6a 01 bb")),
                    StampRecord(2, bytes.fromhex("90 d0 82 e9 c1 a8 c1 fc 6a 01 bb")),
                ),
            ),
        ),
    ),
    Vector(
        123, "df 01 21 08 01 00", "LinkState OAM, empty list", Oam(1, qos=QoS(0x08), body=b"\x00")
    ),
    Vector(
        124,
        f"df 01 21 08 24 {NEW_NODE}",
        "LinkState: new node a3 = psid 2; own entry without zid, links 1 and 2",
        Oam(1, qos=QoS(0x08), body=bytes.fromhex(NEW_NODE)),
    ),
    Vector(
        125,
        "3d 01 02 2f 62 81 12 01 01 07 88 27 a1 b8 01 00 00",
        "PUT whose payload is one SHM descriptor",
        Push(
            WireExpr(1, "/b", sender=False),
            Put(bytes.fromhex("01 01 07 88 27 a1 b8 01 00 00"), shm=True),
        ),
    ),
)
