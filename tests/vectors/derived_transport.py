"""What no recorded vector of scouting and transport shows, derived by hand.

Extensions of the wire reference §2.2, flags and bodies that deployed nodes do not send, and
extensions nobody defined, which are kept.
"""

from __future__ import annotations

from typing import Any

from tests.vectors.vector import derived, zid
from zenlake.wire import (
    Bound,
    Close,
    Extension,
    Fragment,
    Hello,
    Init,
    Join,
    KeepAlive,
    Open,
    Priority,
    Scout,
    TransportOam,
    WhatAmI,
    WhatAmIMatcher,
)

HMAC = (
    "ac f9 4c 93 9b c9 bc aa 44 16 46 8d 5c 87 9f 45c9 58 1d da 3b 62 0d d4 16 0c 23 7a 97 0f 8c c9"
)
LONG_ZID = "10 0f 0e 0d 0c 0b 0a 09 08 07 06 05 04 03 02 01"


def _open_syn(**extensions: Any) -> Open:
    return Open(10, 5, seconds=True, cookie=b"c", **extensions)


SCOUTING = (
    derived(
        "S1",
        f"81 09 f9 {LONG_ZID} bc 05 5d 02 68 69",
        "SCOUT for routers, a ZID of 16 bytes, unknown mandatory extensions",
        Scout(
            WhatAmIMatcher(1),
            zid=zid("102030405060708090a0b0c0d0e0f10"),
            extensions=(Extension(0x3C, 5), Extension(0x5D, b"hi")),
        ),
    ),
    derived(
        "S2",
        "a2 09 02 07 02 05 74 63 70 2f 61 0b 75 64 70 2f 62 3f 72 65 6c 3d 30 1f",
        "HELLO client, two locators, an unknown mandatory extension",
        Hello(
            WhatAmI.CLIENT,
            zid("7"),
            locators=("tcp/a", "udp/b?rel=0"),
            extensions=(Extension(0x1F),),
        ),
    ),
    derived(
        "S3",
        "22 09 00 07 00",
        "HELLO, L=1 with no locator",
        Hello(WhatAmI.ROUTER, zid("7"), locators=()),
    ),
)

TRANSPORT = (
    derived(
        "T1",
        "81 09 02 bb 43 0a 22 e1 cb 9b d1 cf 9f ba be f7",
        "Init with a user/password nonce",
        Init(WhatAmI.CLIENT, zid("bb"), auth=(Extension(0x22, 0xF77CE8FCFA26E5E1),)),
    ),
    derived(
        "T2", "c2 0a 05 01 63 22 ac 02", "OpenSyn, SHM challenge as a number", _open_syn(shm=300)
    ),
    derived(
        "T3",
        "c2 0a 05 01 63 42 0b ac 02 01 00 01 02 03 04 05 06 07",
        "OpenSyn, SHM as bytes",
        _open_syn(shm_bytes=bytes.fromhex("ac 02 01 00 01 02 03 04 05 06 07")),
    ),
    derived(
        "T4",
        "c2 0a 05 01 63 44 03 02 be ef",
        "OpenSyn, multilink",
        _open_syn(multilink=b"\x02\xbe\xef"),
    ),
    derived(
        "T5",
        f"c2 0a 05 01 63 43 28 42 26 04 75 73 72 31 20 {HMAC}",
        "OpenSyn, user and hmac",
        _open_syn(auth=(Extension(0x42, b"\x04usr1\x20" + bytes.fromhex(HMAC)),)),
    ),
    derived(
        "T6",
        "e2 0a 05 81 85 86 27 00",
        "OpenAck with the reserved units, and bound north",
        Open(
            10,
            5,
            seconds=True,
            qos=True,
            lowlatency=True,
            compression=True,
            remote_bound=Bound.NORTH,
        ),
    ),
    derived("T7", "23 00", "CLOSE of the whole session", Close(0, session=True)),
    derived(
        "T8",
        "83 06 8c 4d 01 ff",
        "CLOSE with two unknown extensions",
        Close(6, extensions=(Extension(0x0C), Extension(0x4D, b"\xff"))),
    ),
    derived(
        "T9", "84 2c 05", "KEEP_ALIVE with an unknown extension", KeepAlive((Extension(0x2C, 5),))
    ),
    derived(
        "T10",
        "87 09 01 aa 0a 05 06 52 02 de ad",
        "JOIN with Shm, lease in ms",
        Join(WhatAmI.PEER, zid("aa"), 10, 5, 6, shm=b"\xde\xad"),
    ),
    derived(
        "T11",
        "c6 64 b1 07 82 0e aa",
        "FRAGMENT best effort, First, an unknown extension",
        Fragment(
            100,
            b"\xaa",
            reliable=False,
            more=True,
            qos=Priority.BACKGROUND,
            first=True,
            extensions=(Extension(0x0E),),
        ),
    ),
    derived("T12", "00 05", "transport OAM without body", TransportOam(5)),
    derived("T13", "40 05 02 aa bb", "transport OAM of bytes", TransportOam(5, body=b"\xaa\xbb")),
)

VECTORS = SCOUTING + TRANSPORT
