"""OAM messages by which peers learn of each other.

gossip            between neighbours
multihop_gossip   between all peers of a region (`scouting/gossip/multihop`)
gateway_gossip    a router and the peers below it
gateways          which of its gateways carries a peer's messages
"""
