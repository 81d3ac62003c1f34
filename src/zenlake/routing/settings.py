"""`RoutingSettings`: the part of the configuration that is about routing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from zenlake.limits import (
    FACE_BYTES_MAX,
    FACE_DECLARATIONS_MAX,
    FACE_INTERESTS_MAX,
    FACE_QUERIES_MAX,
    ROUTING_BYTES_MAX,
)
from zenlake.routing.stamps import CustomTime
from zenlake.wire.defaults import DEFAULT_INTEREST_TIMEOUT_MS, DEFAULT_QUERY_TIMEOUT_MS
from zenlake.wire.values.whatami import WhatAmI
from zenlake.wire.values.zenoh_id import ZenohId

GOSSIP_TARGETS: Final = WhatAmI.ROUTER | WhatAmI.PEER


class RoutingSettings:
    """The configuration keys are in behaviour reference §6.2."""

    __slots__ = (
        "bytes_max",
        "custom_time",
        "declarations_max",
        "drop_future_timestamp",
        "face_bytes_max",
        "gossip",
        "gossip_multihop",
        "gossip_targets",
        "interest_timeout_s",
        "interests_max",
        "link_weights",
        "linkstate_peers",
        "peer_link_weights",
        "queries_max",
        "query_timeout_ms",
        "timestamping",
        "wall_ns",
    )

    def __init__(
        self,
        *,
        timestamping: bool = False,
        wall_ns: Callable[[], int] | None = None,
        custom_time: CustomTime | None = None,
        drop_future_timestamp: bool = False,
        query_timeout_ms: int = DEFAULT_QUERY_TIMEOUT_MS,
        interest_timeout_s: float = DEFAULT_INTEREST_TIMEOUT_MS / 1000,
        gossip: bool = True,
        gossip_multihop: bool = False,
        gossip_targets: int = GOSSIP_TARGETS,
        link_weights: dict[ZenohId, int] | None = None,
        linkstate_peers: bool = False,
        peer_link_weights: dict[ZenohId, int] | None = None,
        declarations_max: int = FACE_DECLARATIONS_MAX,
        interests_max: int = FACE_INTERESTS_MAX,
        queries_max: int = FACE_QUERIES_MAX,
        face_bytes_max: int = FACE_BYTES_MAX,
        bytes_max: int = ROUTING_BYTES_MAX,
    ) -> None:
        self.timestamping = timestamping
        """`timestamping/enabled` for this mode; needs `wall_ns`, nanoseconds since 1970."""

        self.wall_ns = wall_ns
        self.custom_time = custom_time
        """Makes the times of this node's records in timestamp stacks, instead of its clock."""

        self.drop_future_timestamp = drop_future_timestamp
        self.query_timeout_ms = query_timeout_ms
        """`queries_default_timeout`: of a REQUEST without a timeout."""

        self.interest_timeout_s = interest_timeout_s
        """`routing/interests/timeout`: how long an answer waits for the node above."""

        self.gossip = gossip
        self.gossip_multihop = gossip_multihop
        """`scouting/gossip/multihop`: forward the addresses of nodes that are not neighbours."""

        self.gossip_targets = gossip_targets
        """`scouting/gossip/target` as a mask of roles."""

        self.link_weights = link_weights or {}
        """`routing/router/linkstate/transport_weights`: by neighbour, 1 to 65,535."""

        self.linkstate_peers = linkstate_peers
        """`routing/peer/mode` is "linkstate": peers and routers form a network, as up to 1.8."""

        self.peer_link_weights = peer_link_weights or {}
        """`routing/peer/linkstate/transport_weights`: of links in that network."""

        self.declarations_max = declarations_max
        """`limits/routing/...`: of one neighbour at once, as the next two.

        They do not apply to the session of this process.
        """

        self.interests_max = interests_max
        self.queries_max = queries_max
        self.face_bytes_max = face_bytes_max
        """The memory that one neighbour may use, and all of them together."""

        self.bytes_max = bytes_max
