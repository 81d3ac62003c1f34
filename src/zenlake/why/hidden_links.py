"""Hidden links: evidence that a node has neighbours or entities that are not in the capture.

Such neighbours may have declared any key, so a missing declaration proves nothing for the node.
"""

from __future__ import annotations

from zenlake.trace.timelines.origins import sources
from zenlake.why.formatting import key_text
from zenlake.why.network import Network
from zenlake.why.records import Declaration, QueryHop

_ENTITIES = ("subscriber", "queryable", "token")


def hidden_link(network: Network, node: str | None) -> str | None:
    """Why the capture may lack declarations to a router or peer; None if it has all."""
    if network.role(node) == "client":
        return None
    if network.has_one_link(node):
        return f"the capture shows only one link of {network.labels.who(node)}"
    known = network.hidden_links
    if node not in known:
        known[node] = _answer_from_nowhere(network, node) or _announced_from_nowhere(network, node)
    return known[node]


def _answer_from_nowhere(network: Network, node: str | None) -> str | None:
    """A reply of an unknown node to a query that no captured link forwards."""
    for query in network.queries_to(node):
        if (query.trace_id, node) not in network.passed_on:
            found = _unknown_replier(network, query)
            if found is not None:
                return found
    return None


def _unknown_replier(network: Network, query: QueryHop) -> str | None:
    for reply in query.replies:
        replier = reply.replier
        if replier not in (None, query.responder) and not network.sessions_of(replier):
            return (
                f"the capture does not have all links of {network.labels.who(query.responder)}: "
                f"the reply in packet {reply.at.packet} is from {network.labels.who(replier)}, "
                "which is on none of the captured links"
            )
    return None


def _announced_from_nowhere(network: Network, node: str | None) -> str | None:
    for entity in _ENTITIES:
        for declaration in network.announced_by(node, entity):
            if declaration.declared is not None and not _has_reason(network, declaration):
                return (
                    f"the capture lacks declarations to {network.labels.who(node)}: in packet "
                    f"{declaration.declared.packet} it announces the {entity} "
                    f"{key_text(declaration.key)}, which no node in the capture declared to it"
                )
    return None


def _has_reason(network: Network, declaration: Declaration) -> bool:
    """Whether a declaration's origin is known: received, a peer's own entity, or admin space."""
    if network.role(declaration.sender) != "router" or declaration.key is None:
        return True
    if declaration.key.startswith("@/") or declaration.node_id or declaration.sender is None:
        return True
    # Some routers announce a client's own tokens to it.
    announced = network.announced_exactly(declaration.sender, declaration.entity, declaration.key)
    return bool(announced or sources(network, declaration))
