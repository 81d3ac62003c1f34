"""`Face`: one established transport, or the in-process session, as routing sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.keyexpr.prefix import nonwild_prefix
from zenlake.keyexpr.tree import KeyTree
from zenlake.limits import ALIASED_INTERESTS_MAX
from zenlake.routing.declarations.key_table import KeyTable
from zenlake.routing.forwarding.origin import Origin
from zenlake.routing.memory import Account
from zenlake.routing.outlet import Outlet
from zenlake.routing.region import BELOW, Region
from zenlake.wire import Declare, DeclareKeyExpr
from zenlake.wire.message import NetworkMessage
from zenlake.wire.values.qos import QOS_BYTES
from zenlake.wire.values.whatami import WhatAmI
from zenlake.wire.values.wire_expr import WireExpr
from zenlake.wire.values.zenoh_id import ZenohId

if TYPE_CHECKING:
    from zenlake.routing.declarations.entity import Entity
    from zenlake.routing.declarations.interest import DownInterest, UpInterest
    from zenlake.routing.forwarding.routed_query import Branch, RoutedQuery
    from zenlake.routing.work import Job

CONTROL: Final = QOS_BYTES[0x08]
"""The QoS of everything but data: priority CONTROL, BLOCK (behaviour reference §2.10)."""

_ID_MAX: Final = 0xFFFF_FFFF


class Face:
    """State about one neighbour that ends with it. Read only, except by this package."""

    __slots__ = (
        "_next_id",
        "_next_request_id",
        "account",
        "aggregates",
        "aliased_all",
        "aliased_keys",
        "announced",
        "answered",
        "branches",
        "declaration_count",
        "gateways",
        "held",
        "interests",
        "is_gone",
        "is_informed",
        "is_local",
        "is_multicast",
        "is_primary",
        "is_shared",
        "job",
        "keys",
        "origin",
        "outlet",
        "position",
        "psids",
        "queries",
        "region",
        "role",
        "up_by_id",
        "up_interests",
        "zid",
    )

    def __init__(
        self,
        zid: ZenohId,
        role: WhatAmI,
        region: Region,
        position: int,
        outlet: Outlet,
        account: Account,
        *,
        is_local: bool = False,
        is_multicast: bool = False,
    ) -> None:
        self.zid = zid
        self.role = role
        self.region = region
        self.origin = region.origin
        """The routes that its messages take."""

        self.position = position
        self.outlet = outlet
        self.is_local = is_local
        self.is_multicast = is_multicast
        self.is_gone = False
        """Whether it was removed: nothing may be sent to it any more."""

        self.job: Job | None = None
        """Unfinished work for its last message; its next one is received afterwards."""

        self.account = account
        """The memory that it makes this node use."""

        self.keys = KeyTable(account)
        self._next_id = 1
        self._next_request_id = 1

        self.held: list[dict[int, Entity]] = [{}, {}, {}]
        """Its declarations, by kind and by its id."""

        self.declaration_count = 0
        self.announced: list[dict[str, Entity]] = [{}, {}, {}]
        """Our declarations to it, by kind and key."""

        self.is_informed = False
        """Whether an equal peer has sent its D_FINAL(0): all its declarations are known (§3.3)."""

        self.interests: dict[int, DownInterest] = {}
        """Its interests, by its id."""

        self.aggregates: dict[tuple[int, str], int] = {}
        """How many of these are aggregates, by kind and key."""

        self.aliased_keys: KeyTree[int] = KeyTree()
        """Keys of its interests with K: for these we may number keys; with how many."""

        self.aliased_all = 0
        self.up_by_id: dict[int, UpInterest] = {}
        """Our interests at it, by our id."""

        self.up_interests: dict[tuple[str, int, int], UpInterest] = {}
        """Our interests at it without liveliness gets, by key, options and mode."""

        self.answered: list[dict[str, int]] = [{}, {}, {}]
        """Keys ("" for all) whose declarations it has sent completely, by kind; with a count."""

        self.branches: dict[int, Branch] = {}
        """Requests sent to it, by our request id."""

        self.queries: dict[int, RoutedQuery] = {}
        """Open requests that came from it, by its request id."""

        self.gateways: frozenset[ZenohId] = frozenset()
        """All gateways of a peer below this router, this one included, as the peer describes."""

        self.is_primary = True
        """Whether this router is the one of them that carries its messages (§4.4)."""

        self.is_shared = False
        """Whether it is the source of a router in both networks of this one (election.py)."""

        self.psids: dict[int, ZenohId] = {}
        """The psids of nodes in its link states."""

    def is_reached_from(self, origin: Origin) -> bool:
        """Whether this router forwards messages of an origin to it (§4.4).

        Messages from other routers are not forwarded if another gateway of this peer does so, nor
        messages that entered at another gateway, which has sent them to the peer itself.
        """
        if not self.gateways or not origin.region.is_north:
            return True
        return self.is_primary and origin.root not in self.gateways

    def next_id(self) -> int:
        """An id for a declaration or an interest: one count per face, 0 is reserved (§3.1)."""
        id = self._next_id
        self._next_id = id + 1 if id < _ID_MAX else 1
        return id

    def next_request_id(self) -> int:
        id = self._next_request_id
        while id in self.branches:
            id = id + 1 if id < _ID_MAX else 1
        self._next_request_id = id + 1 if id < _ID_MAX else 1
        return id

    def send(self, message: NetworkMessage, key: str) -> None:
        self.outlet.push(message, key, True)

    def has_aliases(self) -> bool:
        """Whether a publication may write a key in another way than in full."""
        return not (self.is_local or self.is_multicast) and self.keys.has_any()

    def shortest(self, key: str) -> WireExpr:
        """How a publication or query writes `key` on this face."""
        if self.is_local or self.is_multicast:
            return WireExpr(0, key)
        return self.keys.shortest(key)

    def declared(self, key: str) -> WireExpr:
        """How a declaration or interest writes `key`; may number its beginning first (§3.5)."""
        if self.is_local or self.is_multicast:
            return WireExpr(0, key)
        prefix = nonwild_prefix(key)
        if prefix is None:
            return WireExpr(0, key)
        suffix = key[len(prefix) :]
        known = self.keys.known(prefix, suffix)
        if known is not None:
            return known
        id = self.keys.define(prefix) if self._may_number(prefix) else 0
        if id == 0:
            return WireExpr(0, key)
        self.send(Declare(DeclareKeyExpr(id, WireExpr(0, prefix, False)), qos=CONTROL), prefix)
        return WireExpr(id, suffix)

    def allow_aliases(self, key: str) -> None:
        """Count one more interest with K on `key` ("" for all keys).

        Beyond a limit further ones are not noted: a key can always be written out, and looking a
        prefix up must stay cheap.
        """
        if not key:
            self.aliased_all += 1
            return
        count = self.aliased_keys.get(key)
        if count is not None or len(self.aliased_keys) < ALIASED_INTERESTS_MAX:
            self.aliased_keys.insert(key, (count or 0) + 1)

    def disallow_aliases(self, key: str) -> None:
        if not key:
            self.aliased_all -= 1
            return
        count = self.aliased_keys.get(key) or 0
        if count > 1:
            self.aliased_keys.insert(key, count - 1)
        elif count == 1:
            self.aliased_keys.remove(key)

    def _may_number(self, prefix: str) -> bool:
        if self.position != BELOW or self.aliased_all > 0:
            return True
        return len(self.aliased_keys.match_key(prefix)) > 0

    def has_declared_all(self, kind: int, key: str) -> bool:
        """Whether a node above has answered an interest in exactly this key, or in all keys."""
        answered = self.answered[kind]
        return key in answered or "" in answered

    def __repr__(self) -> str:
        where = "local" if self.is_local else f"{self.role} {self.zid}"
        return f"Face({where})"
