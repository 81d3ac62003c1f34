"""SCOUT and HELLO: discovery of nodes (seed page: packet formats, Scout & Hello; wire reference §3)."""

# fmt: off
from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.limits import LOCATORS_PER_HELLO_MAX
from zenlake.wire.defaults import PROTOCOL_VERSION
from zenlake.wire.define import (
    LOCATOR,
    ROLE_CODE,
    ROLES,
    U8,
    ScoutingMessage,
    bits,
    byte,
    chain,
    many,
    wire,
    zid,
)

if TYPE_CHECKING:
    from zenlake.wire.message import Extension
    from zenlake.wire.values.whatami import WhatAmI, WhatAmIMatcher
    from zenlake.wire.values.zenoh_id import ZenohId


class Scout(ScoutingMessage, id=0x01, header="Z|X|X"):
    """A search for nodes of the given roles."""

    version:    int                    = wire(U8, default=PROTOCOL_VERSION)
    packed                             = byte("zid_len:4|I|WHAT:3")
    what:       WhatAmIMatcher         = bits("WHAT", ROLES)
    zid:        ZenohId | None         = zid(if_flag="I")
    extensions: tuple[Extension, ...]  = chain("ScoutExts")


class Hello(ScoutingMessage, id=0x02, header="Z|X|L"):
    """The presence of a node: its id, role and locators."""

    version:    int                    = wire(U8, default=PROTOCOL_VERSION)
    packed                             = byte("zid_len:4|X|X|WAI:2")
    whatami:    WhatAmI                = bits("WAI", ROLE_CODE)
    zid:        ZenohId                = zid()
    locators:   tuple[str, ...] | None = many(LOCATOR, limit=LOCATORS_PER_HELLO_MAX, if_flag="L", cell="loc")
    extensions: tuple[Extension, ...]  = chain("HelloExts")
