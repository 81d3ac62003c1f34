"""FRAME, FRAGMENT, JOIN, transport OAM (the wire reference §12.4)."""

from __future__ import annotations

from tests.vectors.vector import LinkStateVector, Vector, zid
from zenlake.wire import (
    Declare,
    DeclareFinal,
    Fragment,
    Frame,
    Join,
    JoinQoS,
    LaneSn,
    LinkState,
    LinkStateList,
    Oam,
    Priority,
    Push,
    Put,
    QoS,
    Resolution,
    TransportOam,
    WhatAmI,
    WireExpr,
)

GOSSIP = (
    "02 07 00 02 01 bb 02 01 13 74 63 70 2f 31 32 37 2e 30 2e 30 2e 31 3a 31 37 34 35 32 00"
    "03 01 00 01 aa 02 00"
)

LINK_STATES = (
    LinkStateVector(
        63,
        GOSSIP,
        "a peer's first link states: itself with its locator, and the other",
        LinkStateList(
            (
                LinkState(
                    psid=0,
                    sn=2,
                    links=(),
                    zid=zid("bb"),
                    whatami=WhatAmI.PEER,
                    locators=("tcp/127.0.0.1:17452",),
                ),
                LinkState(psid=1, sn=0, links=(), zid=zid("aa"), whatami=WhatAmI.PEER),
            )
        ),
    ),
)

VECTORS = (
    Vector(
        60,
        "25 90 ec ca 7f 7d 00 06 64 65 6d 6f 2f 61 01 05 68 65 6c 6c 6f",
        'FRAME reliable, PUSH demo/a PUT "hello"',
        Frame(267564560, [Push(WireExpr(0, "demo/a"), Put(b"hello"))]),
    ),
    Vector(
        61,
        "a5 90 ec ca 7f 31 01 fd 00 06 64 65 6d 6f 2f 61 21 19 01 01 31",
        "FRAME prio 1, PUSH QoS 0x19 (RealTime, block, express)",
        Frame(
            267564560,
            [Push(WireExpr(0, "demo/a"), Put(b"1"), qos=QoS(0x19))],
            qos=Priority.REAL_TIME,
        ),
    ),
    Vector(
        62,
        "05 d1 de 8c 1f 3d 01 03 2f 62 65 01 02 62 31 3d 01 03 2f 62 65 01 02 62 32",
        "best-effort FRAME with two PUSH, receiver scope 1",
        Frame(
            65220433,
            [
                Push(WireExpr(1, "/be", sender=False), Put(b"b1")),
                Push(WireExpr(1, "/be", sender=False), Put(b"b2")),
            ],
            reliable=False,
        ),
    ),
    Vector(
        63,
        f"a5 a4 b9 f1 24 31 00 df 01 21 08 24 {GOSSIP} be 00 21 08 1a",
        "first frame of a peer: LinkState OAM + D_FINAL interest 0",
        Frame(
            77356196,
            [
                Oam(1, qos=QoS(0x08), body=bytes.fromhex(GOSSIP)),
                Declare(DeclareFinal(), interest_id=0, qos=QoS(0x08)),
            ],
            qos=Priority.CONTROL,
        ),
    ),
    Vector(
        64,
        "e6 64 b1 02 02 aa bb",
        "FRAGMENT reliable more, sn 100, prio 2, First",
        Fragment(100, b"\xaa\xbb", more=True, qos=Priority.INTERACTIVE_HIGH, first=True),
        "D",
    ),
    Vector(
        65, "66 65 cc", "FRAGMENT reliable more, sn 101", Fragment(101, b"\xcc", more=True), "D"
    ),
    Vector(66, "26 66 dd", "FRAGMENT reliable last, sn 102", Fragment(102, b"\xdd"), "D"),
    Vector(67, "a6 65 03", "FRAGMENT last, Drop marker", Fragment(101, b"", drop=True), "D"),
    Vector(
        69,
        "a7 09 01 aa 0a 99 b0 b0 67 d5 e6 bf 09 27 01",
        "JOIN peer aa, lease 10 s, SNs 216799257 / 19919701, Patch 1",
        Join(WhatAmI.PEER, zid("aa"), 10, 216799257, 19919701, seconds=True, patch=1),
    ),
    Vector(
        70,
        "a7 09 01 aa 0a 00 00 d1 40 fc 91 e0 5a 92 a4 93 6b e2 9f d9 53 dd d8 bd 32 c6 a0 e5 6d a9"
        "ab fe 26 f7 e0 e1 07 fc e2 9a 0b bb b4 dd 1e d2 a1 8d 41 d5 f1 ea 18 a6 95 a9 39 85 e8 bd"
        "7c 9b f7 d6 16 e9 eb af 6f ea 88 80 61 27 01",
        "JOIN with QoS: 8 SN pairs",
        Join(
            WhatAmI.PEER,
            zid("aa"),
            10,
            0,
            0,
            seconds=True,
            qos=JoinQoS(
                (
                    LaneSn(190318844, 224711186),
                    LaneSn(175525858, 105868381),
                    LaneSn(230248518, 81761705),
                    LaneSn(16281719, 23507324),
                    LaneSn(64444987, 136532178),
                    LaneSn(52082901, 120212134),
                    LaneSn(261059589, 47561627),
                    LaneSn(233567721, 203424874),
                )
            ),
            patch=1,
        ),
    ),
    Vector(
        71,
        "47 09 11 01 02 0a 00 08 e8 07 00 00",
        "JOIN peer 201, batch 2048, lease 1000 ms",
        Join(WhatAmI.PEER, zid("201"), 1000, 0, 0, resolution=Resolution(0x0A), batch_size=2048),
        "D",
    ),
    Vector(
        72,
        "a0 05 31 00 ac 02",
        "transport OAM id 5, prio 0, Z64 body 300",
        TransportOam(5, qos=Priority.CONTROL, body=300),
        "D",
    ),
)
