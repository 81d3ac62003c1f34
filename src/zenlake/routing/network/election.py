"""`Election`: which router carries messages between a network of linkstate peers and the rest.

Several routers may be nodes of the same network of peers and of the same network of routers. For
each key one of them is elected by a hash (behaviour reference §4.4, releases up to 1.8). Only that
one passes messages on this key from peers to routers, clients and applications, and the other way.
All of them elect the same one, as they know the same *shared* routers.
"""

from __future__ import annotations

from typing import Final

from zenlake.routing.network.network import Network
from zenlake.routing.network.weights import SipHash
from zenlake.routing.work import KEY_BYTES_PER_STEP, Work
from zenlake.wire.values.zenoh_id import ZenohId

_VOTE_STEPS: Final = 8


class Election:
    __slots__ = ("_peers", "_routers", "_zid", "shared")

    def __init__(self, zid: ZenohId, peers: Network, routers: Network) -> None:
        self._zid = zid
        self._peers = peers
        self._routers = routers
        self.shared: set[ZenohId] = {zid}
        """The nodes of both networks, this router included."""

    def update(self, work: Work) -> set[ZenohId]:
        """Update the shared nodes after a change of a network; returns the new and gone ones."""
        peers = self._peers.graph.nodes
        routers = self._routers.graph.nodes
        work.steps -= len(peers)
        shared = {zid for zid in peers if zid in routers}
        changed = shared ^ self.shared
        self.shared = shared
        return changed

    def elects(self, key: str, work: Work) -> bool:
        """Whether this router carries messages on a key."""
        if len(self.shared) == 1:
            return True
        data = key.encode()
        work.steps -= len(data) // KEY_BYTES_PER_STEP + _VOTE_STEPS * len(self.shared)
        key_hash = SipHash(data)
        own_vote = key_hash.finish(self._zid.raw)
        return not any(
            key_hash.finish(zid.raw) > own_vote for zid in self.shared if zid != self._zid
        )
