"""Expected sessions: opener, acceptor, end and number of links.

The expectations follow from what the applications did: a node that closes sends CLOSE, a killed
node does not, and zenoh-pico 1.9.0 only closes its connection.
"""

from __future__ import annotations

from typing import Final

_EACH_CLOSED: Final = {
    "compression": "pub sub sub_plain",
    "cooked_v1": "far near",
    "cooked_v2": "far near",
    "encrypted_links": "ws tcp",
    "fragments": "pub",
    "impaired": "pub sub",
    "ipv6_router": "sub pub",
    "lowlatency": "pub sub ordinary",
    "metadata": "sub pub",
    "mixed_versions": "old mid new",
    "old_release_1_0_4": "peer sub pub",
    "pico_1_0_4": "sub pub",
    "pubsub_router": "sub1 sub2 pub1 pub2",
    "qos_matrix": "sub pub",
    "queries": "qa qb qc getter",
    "udp_unicast": "pub sub sub_tcp",
}
"""Captures in which each of these nodes opens a session with a router and closes it."""

SESSIONS: Final[dict[str, list[str]]] = {
    **{
        name: [f"{node} router closed 1" for node in nodes.split()]
        for name, nodes in _EACH_CLOSED.items()
    },
    "alias_remapped": ["sub router closed 1", "pub router lost 1"],
    "compressed_midstream": ["- - partial 1", "- - partial 1"],
    "liveliness": [
        "a router closed 1",
        "b router closed 1",
        "watch router closed 1",
        "watch_hist router closed 1",
        "victim router lost 1",  # killed
    ],
    "lowlatency_midstream": ["- - partial 1", "- - partial 1"],
    "midstream": ["- - partial 1", "- - partial 1"],
    "multicast": ["found router closed 1", "- - closed 3"],  # three members, one link for each
    "peers_gossip": [
        "peer1 peer0 closed 1",
        "peer2 peer0 closed 1",
        "peer2 peer1 closed 2",  # they dialled each other
        "router peer0 closed 1",
    ],
    "pico_clients": ["sub router lost 1", "pub router lost 1", "ask router lost 1"],
    "pico_peers": ["- - open 2"],
    "pico_reopened": [
        "sub router closed 1",
        "pub router closed 1",
        "sub router refused 1",
        "sub router closed 1",
        "sub router closed 1",
        "sub router lost 1",
    ],
    "reconnect": [
        "sub router lost 1",  # the router was killed
        "pub router lost 1",
        "sub router closed 1",
        "pub router lost 1",  # killed
    ],
    "ros2": [
        "lidar router closed 1",
        "viewer router closed 1",
        "mapper router closed 1",
        "camera router lost 1",
        "bridge router closed 1",
    ],
    "routers_ring": [
        "router1 router0 closed 1",
        "router2 router1 closed 1",
        "router3 router2 closed 1",
        "router3 router0 closed 1",
        "left router0 closed 1",
        "right router2 closed 1",
    ],
    "sessions": [
        "sub router closed 1",
        "noqos router closed 1",
        "smallbatch router closed 1",
        "sn8 router closed 1",
        "sn16 router closed 1",
        "shm router closed 1",
        "multilink router closed 2",
        "alice_ok router_auth closed 1",
        "? router_auth refused 1",  # a wrong password
        "? - refused 1",  # no user
        "silent router lost 1",  # stopped for longer than its lease
        "silent router closed 1",
        "pub router closed 1",
        "pub router_again closed 1",
        "sub router_again closed 1",
    ],
    "snaplen": ["pub - closed 1", "sub - closed 1"],  # INIT_ACK is cut
}
