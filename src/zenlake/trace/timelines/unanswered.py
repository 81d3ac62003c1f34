"""Why a query ended without any reply: one decision for the tables and for `zenlake why`.

The causes are listed in `semantics/causes.py`, as `QUERY_CAUSES`. `zenlake why` adds more specific
ones: that a key nearly matches, or that the capture lost packets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from zenlake.semantics.causes import OWN_QUERYABLE, QueryCause
from zenlake.trace.timelines.absence import Wording, describe_gone, describe_late
from zenlake.trace.timelines.origins import is_behind_hidden_router
from zenlake.trace.timelines.queryables import Queryable, Queryables

Who = Callable[[str | None], str]
"""The name of a node in sentences."""

_NODES_NAMED: Final = 4
_KEY_CHARACTERS_MAX: Final = 200


@dataclass(slots=True, eq=False)
class Hop:
    """One REQUEST without a reply on one link; `onward` has the requests that forwarded it."""

    session: str
    seq: int
    time_ns: int
    requester: str | None
    responder: str | None
    key: str | None
    target: str | None
    final_ns: int | None
    lost_ns: int | None
    """When its session ended, if before the final response and the timeout."""
    onward: list[Hop] = field(default_factory=list)

    def leaves(self) -> Iterator[Hop]:
        if not self.onward:
            yield self
        for hop in self.onward:
            yield from hop.leaves()


def link_hops(hops: list[Hop]) -> None:
    """Fills `onward` of the hops of one trace, which must be in the order of seq."""
    for place, hop in enumerate(hops):
        for earlier in reversed(hops[:place]):
            if earlier.responder == hop.requester and earlier.session != hop.session:
                earlier.onward.append(hop)
                break


class Unanswered(NamedTuple):
    """A cause, the hop at which it applies, and the queryable that explains it."""

    cause: QueryCause
    hop: Hop
    """The last hop, from which the query was not forwarded."""
    nodes: list[str | None]
    """Nodes to blame that received the query, if any."""
    queryable: Queryable | None = None


def explain(queryables: Queryables, hop: Hop) -> Unanswered | None:
    """Why a query has no reply; None if a limit of the index was reached."""
    if hop.key is not None:
        own = queryables.own(hop.requester, hop.key, hop.time_ns)
        if own is not None:
            return Unanswered(OWN_QUERYABLE, hop, [], own)
    found = _blame_last_nodes(queryables, hop) if hop.onward else _explain_hop(queryables, hop)
    return None if queryables.is_full else found


def _blame_last_nodes(queryables: Queryables, hop: Hop) -> Unanswered:
    """Blames the last nodes, unless all of them are routers without a matching queryable."""
    leaves = list(hop.leaves())
    lost = [leaf for leaf in leaves if leaf.final_ns is None and leaf.lost_ns is not None]
    if lost:
        return Unanswered("responder_lost", lost[0], [lost[0].responder])
    found = [_explain_hop(queryables, leaf) for leaf in leaves]
    silent = [
        leaf.responder
        for leaf, one in zip(leaves, found, strict=True)
        if one.cause == "no_reply" or queryables.role(leaf.responder) != "router"
    ]
    return Unanswered("no_reply", hop, silent) if silent else found[0]


def _explain_hop(queryables: Queryables, hop: Hop) -> Unanswered:
    """Explains a hop by the queryables to which its receiver could have forwarded the query."""
    if hop.key is None:
        return Unanswered("not_visible", hop, [])
    offered = queryables.offered(hop.responder, hop.requester, hop.key)
    number = present([(one.declared_ns, one.ended_ns) for one in offered], hop.time_ns)
    if number is None:
        is_known = not is_hidden(queryables, hop)
        return Unanswered("no_queryable" if is_known else "not_visible", hop, [])
    one = offered[number]
    if one.is_alive(hop.time_ns):
        return Unanswered(_not_asked(queryables, hop, one), hop, [one.sender], one)
    is_late = one.declared_ns > hop.time_ns
    return Unanswered("not_yet_declared" if is_late else "gone", hop, [one.sender], one)


def present(spans: list[tuple[int, int | None]], time_ns: int) -> int | None:
    """The index of the lifetime that explains most: one that is alive, else ended, else later."""
    gone = later = None
    for number, (declared_ns, ended_ns) in enumerate(spans):
        if declared_ns > time_ns:
            if later is None or declared_ns < spans[later][0]:
                later = number
        elif ended_ns is None or ended_ns >= time_ns:
            return number
        elif gone is None or ended_ns > (spans[gone][1] or 0):
            gone = number
    return later if gone is None else gone


def _not_asked(queryables: Queryables, hop: Hop, one: Queryable) -> QueryCause:
    """Why a matching queryable did not get the query, as far as the links show."""
    if one.sender == hop.responder:
        return "no_reply"
    if is_behind_hidden_router(queryables, one):
        return "not_visible"
    if hop.target == "all_complete":
        return "not_complete"
    if queryables.are_peers(one.sender, hop.requester):
        return "not_relayed"
    return "not_passed_on"


def is_hidden(queryables: Queryables, hop: Hop) -> bool:
    """Whether a node may have declared a queryable that the capture does not show."""
    if queryables.hidden is not None:
        return True
    are_peers = queryables.are_peers(hop.responder, hop.requester)
    return queryables.has_one_link(hop.responder) and not are_peers


def reason(queryables: Queryables, found: Unanswered, who: Who, apart: Callable[[int], str]) -> str:
    """The cause as a sentence; `apart` formats a duration in nanoseconds."""
    hop, one = found.hop, found.queryable
    key = "" if one is None else short_key(one.key)
    sender = who(None if one is None else one.sender)
    if found.cause == OWN_QUERYABLE:
        return f"the requester's own queryable {key} is asked inside it: no link shows the replies"
    if found.cause == "responder_lost":
        assert hop.lost_ns is not None
        after = apart(hop.lost_ns - hop.time_ns)
        return f"{who(hop.responder)} was asked, and its session ended {after} later"
    if found.cause == "no_reply":
        nodes = [who(zid) for zid in dict.fromkeys(found.nodes)]
        more = f" and {len(nodes) - _NODES_NAMED} more" if len(nodes) > _NODES_NAMED else ""
        return f"{', '.join(nodes[:_NODES_NAMED])}{more} received the query and sent no reply"
    if found.cause == "not_complete":
        return f"the target is all_complete, and the queryable {key} of {sender} is not complete"
    if found.cause == "not_relayed":
        return f"the queryable {key} is of {sender}, a peer: routers do not relay between peers"
    if found.cause == "not_passed_on":
        return f"{sender} declared the queryable {key}, and is not seen to be asked"
    if one is not None:
        return _absence_text(queryables, found.cause, one, hop.time_ns, who, apart)
    if hop.key is None:
        return "the key is not known: its alias was declared before the capture"
    if found.cause == "no_queryable":
        return "no node ever declared a queryable for it"
    if queryables.hidden is not None and not queryables.has_one_link(hop.responder):
        return f"no queryable for it is seen, but {queryables.hidden}"
    return f"no queryable for it is seen; the capture shows only one link of {who(hop.responder)}"


def _absence_text(
    queryables: Queryables,
    cause: str,
    one: Queryable,
    time_ns: int,
    who: Who,
    apart: Callable[[int], str],
) -> str:
    """The sentence for a queryable that did not exist at that time, or may not have existed."""
    wording = Wording(who, short_key, apart)
    if cause == "gone":
        return f"it was gone: {describe_gone(queryables, one, time_ns, wording).sentence}"
    if cause == "not_yet_declared":
        return describe_late(queryables, one, time_ns, wording)[0]
    return (
        f"{who(one.sender)} declared the queryable {short_key(one.key)}; it has that from another "
        "router, which may be gone: that is not in the capture, only link state says so"
    )


def short_key(key: str | None) -> str:
    key = key or ""
    return key if len(key) <= _KEY_CHARACTERS_MAX else key[: _KEY_CHARACTERS_MAX - 1] + "…"
