"""`NetworkNode`: a node of a link-state network as this node knows it."""

from __future__ import annotations

from typing import Final

from zenlake.routing.memory import Account
from zenlake.wire.values.whatami import WhatAmI
from zenlake.wire.values.zenoh_id import ZenohId

NODE_BYTES: Final = 18_000
"""A node, its number on all links, and the tree rooted at it."""

LINK_BYTES: Final = 600
"""A link that it lists, with the edge and the hash behind it."""


class NetworkNode:
    __slots__ = (
        "account",
        "born",
        "charged_bytes",
        "edges",
        "index",
        "is_gateway",
        "links",
        "locators",
        "number",
        "role",
        "sn",
        "zid",
    )

    def __init__(self, zid: ZenohId, role: WhatAmI | None, index: int, born: int) -> None:
        self.zid = zid
        self.number = int(zid)
        """The id as a number, for comparisons."""

        self.role = role
        """None while it is known only from the links of others."""

        self.index = index
        """Our psid for it; this node's own is 0. It may be reused once the node has left."""

        self.born = born
        """The version of the graph it appeared in: older trees do not know it."""

        self.sn = 0
        """The version of its link state, 0 if none has arrived."""

        self.locators: tuple[str, ...] | None = None
        self.is_gateway = False
        self.links: dict[NetworkNode, int] = {}
        """The neighbours that it lists, each with the weight that it configured, 0 for none."""

        self.edges: dict[NetworkNode, float] = {}
        """The nodes that list it too, with the weight of the edge."""

        self.account: Account | None = None
        """The account of the neighbour that described it last, to which it is charged."""

        self.charged_bytes = 0

    def __repr__(self) -> str:
        return f"NetworkNode({self.zid}, {self.index})"


def node_bytes(link_count: int, locators: tuple[str, ...] | None) -> int:
    size = NODE_BYTES + LINK_BYTES * link_count
    for locator in locators or ():
        size += 100 + 4 * len(locator)
    return size
