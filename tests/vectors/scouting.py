"""SCOUT and HELLO (the wire reference §12.2)."""

from __future__ import annotations

from tests.vectors.vector import Vector, zid
from zenlake.wire import Hello, Scout, WhatAmI, WhatAmIMatcher

VECTORS = (
    Vector(20, "01 09 07", "SCOUT for router, peer, client; no ZID", Scout(WhatAmIMatcher(7))),
    Vector(
        21, "01 09 0a 33", "SCOUT for peers, ZID 33", Scout(WhatAmIMatcher(2), zid=zid("33")), "D"
    ),
    Vector(
        22,
        "22 09 01 aa 01 13 74 63 70 2f 31 32 37 2e 30 2e 30 2e 31 3a 31 37 36 32 31",
        "HELLO peer aa, locator tcp/127.0.0.1:17621",
        Hello(WhatAmI.PEER, zid("aa"), locators=("tcp/127.0.0.1:17621",)),
    ),
    Vector(23, "02 09 00 07", "HELLO router 7, no locators", Hello(WhatAmI.ROUTER, zid("7")), "D"),
)
