"""INIT, OPEN, CLOSE, KEEP_ALIVE (the wire reference §12.3)."""

from __future__ import annotations

from typing import Any

from tests.vectors.vector import Vector, zid
from zenlake.wire import (
    Bound,
    Close,
    Extension,
    Init,
    KeepAlive,
    Open,
    QoSLink,
    Resolution,
    WhatAmI,
)

COOKIE = bytes.fromhex(
    "20 7e a9 b0 2e 60 f8 b4 2b cf c6 16 07 e7 42 26 a6 fb ce 5d 8d 14 81 eb 12 52 49 8d a3 d5 35"
    "c7 82"
)


def init_syn(batch_size: int = 65480, resolution: int = 0x0A, **extensions: Any) -> Init:
    """The InitSyn of peer bb, which most recordings show."""
    return Init(
        WhatAmI.PEER,
        zid("bb"),
        resolution=Resolution(resolution),
        batch_size=batch_size,
        **extensions,
    )


VECTORS = (
    Vector(
        30,
        "c1 09 42 50 40 30 20 10 0a c8 ff 81 27 01",
        "InitSyn client 1020304050, res 0x0a, batch 65480, QoS, Patch 1",
        Init(
            WhatAmI.CLIENT,
            zid("1020304050"),
            resolution=Resolution(0x0A),
            batch_size=65480,
            qos=True,
            patch=1,
        ),
    ),
    Vector(
        31,
        "e1 09 00 aa 0a 00 c0 21 20 7e a9 b0 2e 60 f8 b4 2b cf c6 16 07 e7 42 26 a6 fb ce 5d 8d 14"
        "81 eb 12 52 49 8d a3 d5 35 c7 82 81 27 01",
        "InitAck router aa, batch 49152, 33-byte cookie, QoS, Patch 1",
        Init(
            WhatAmI.ROUTER,
            zid("aa"),
            resolution=Resolution(0x0A),
            batch_size=49152,
            cookie=COOKIE,
            qos=True,
            patch=1,
        ),
    ),
    Vector(
        32,
        "42 0a 90 ec ca 7f 21 20 7e a9 b0 2e 60 f8 b4 2b cf c6 16 07 e7 42 26 a6 fb ce 5d 8d 14 81"
        "eb 12 52 49 8d a3 d5 35 c7 82",
        "OpenSyn lease 10 s, isn 267564560, cookie",
        Open(10, 267564560, seconds=True, cookie=COOKIE),
    ),
    Vector(
        33,
        "62 0a 9f fc b5 4c",
        "OpenAck lease 10 s, isn 160267807",
        Open(10, 160267807, seconds=True),
    ),
    Vector(
        34,
        "81 09 02 bb 81 27 01",
        "InitSyn over ws: S=0 because batch is 65535",
        Init(WhatAmI.CLIENT, zid("bb"), qos=True, patch=1),
    ),
    Vector(35, "c1 09 01 bb 0a c8 ff 27 01", "InitSyn with QoS disabled", init_syn(patch=1)),
    Vector(
        36,
        "c1 09 01 bb 09 00 04 81 27 01",
        "InitSyn 16-bit SN, batch 1024",
        init_syn(1024, 0x09, qos=True, patch=1),
    ),
    Vector(
        37,
        "c1 09 01 bb 0a c8 ff 81 86 27 01",
        "InitSyn offering compression",
        init_syn(qos=True, compression=True, patch=1),
    ),
    Vector(
        38,
        "c1 09 01 bb 0a c8 ff 85 27 01",
        "InitSyn offering low latency",
        init_syn(lowlatency=True, patch=1),
    ),
    Vector(
        39,
        "c1 09 01 bb 0a c8 ff a1 8e b0 20 27 01",
        "InitSyn QoSLink prio 1-3, reliable",
        init_syn(qos_link=QoSLink(0x8180E), patch=1),
    ),
    Vector(
        40,
        "c1 09 01 bb 0a c8 ff a1 b6 70 27 01",
        "InitSyn QoSLink prio 6-7, best effort",
        init_syn(qos_link=QoSLink.of((6, 7), reliable=False), patch=1),
    ),
    Vector(
        41,
        "c1 09 01 bb 0a c8 ff 81 c3 01 02 27 01",
        "InitSyn offering user/password",
        init_syn(qos=True, auth=(Extension(0x02),), patch=1),
    ),
    Vector(
        42,
        "c1 09 01 bb 0a c8 ff 81 a7 01 48 04 72 65 67 42",
        "InitSyn region name regB",
        init_syn(qos=True, patch=1, region="regB"),
    ),
    Vector(
        43,
        "c1 09 01 bb 0a c8 ff 81 c2 04 90 b9 8e 69 27 01",
        "InitSyn offering SHM",
        init_syn(qos=True, shm=b"\x90\xb9\x8e\x69", patch=1),
    ),
    Vector(
        44,
        "e2 0a d1 de 8c 1f 43 01 02",
        "OpenAck confirming user/password",
        Open(10, 65220433, seconds=True, auth=(Extension(0x02),)),
    ),
    Vector(
        45,
        "e2 0a d1 de 8c 1f 04",
        "OpenAck confirming multilink",
        Open(10, 65220433, seconds=True, multilink_ack=True),
    ),
    Vector(
        46,
        "e2 0a d1 de 8c 1f 27 01",
        "OpenAck RemoteBound south",
        Open(10, 65220433, seconds=True, remote_bound=Bound.SOUTH),
    ),
    Vector(
        47,
        "c1 09 32 11 22 33 44 09 00 04 81 c2 01 2a c3 01 02 c4 02 00 00 85 86 a7 01 48 01 78",
        "InitSyn client 44332211 with every extension",
        Init(
            WhatAmI.CLIENT,
            zid("44332211"),
            resolution=Resolution(0x09),
            batch_size=1024,
            qos=True,
            shm=b"\x2a",
            auth=(Extension(0x02),),
            multilink=b"\x00\x00",
            lowlatency=True,
            compression=True,
            patch=1,
            region="x",
        ),
        "D",
    ),
    Vector(48, "03 00", "CLOSE link, generic", Close(0)),
    Vector(49, "03 02", "CLOSE link, invalid (answer to version 8)", Close(2)),
    Vector(50, "03 04", "CLOSE max links (second link same ZID)", Close(4)),
    Vector(51, "03 07", "CLOSE connection to self", Close(7)),
    Vector(52, "04", "KEEP_ALIVE", KeepAlive()),
)
