"""Origins: who declared first what a node tells on, and who gave it up first.

A router tells others what it was told: its declaration stands on those of its neighbours, down to
the node whose application made it. So does its end. Between routers, what came from a third one
also ends when that router is gone: link state says so, and nobody undeclares it (behaviour
reference §4.7).
"""

from __future__ import annotations

from typing import Final

from zenlake.why.network import Network
from zenlake.why.records import Declaration, Moment
from zenlake.why.wanted import meet

_GRACE_NS: Final = 1_000_000_000
"""News needs a moment on its way; what ends later than that ends for another reason."""
_UNSURE_NS: Final = 50_000_000
"""When exactly a session is lost, each side notices for itself."""
_HOPS_MAX: Final = 64


def sources(network: Network, life: Declaration) -> list[Declaration]:
    """What the sender of a declaration was told itself, by others than who is told now."""
    if life.key is None or life.sender is None:
        return []
    told = network.told_of(life.sender, life.entity, life.key)
    found = [one for one in told if one.sender != life.receiver and one is not life]
    if network.words.role(life.sender) != "router" or network.words.role(life.receiver) != "router":
        return found or _aggregated(network, life)
    # NodeId 0 is what comes from the router's own neighbours, another is a router's behind it.
    is_relayed = bool(life.node_id)
    return [one for one in found if (network.words.role(one.sender) == "router") == is_relayed]


def _aggregated(network: Network, life: Declaration) -> list[Declaration]:
    """What a node sums up for a neighbour that asked for one key (behaviour reference §3.6)."""
    return [
        one
        for one in network.told_to(life.sender, life.entity)
        if one.sender != life.receiver and one.key and life.key and meet(one.key, life.key)
    ]


def is_behind_hidden_router(network: Network, life: Declaration) -> bool:
    """Whether a router has it from another one whose link is not in the capture.

    When that one goes, only link state says so: the declaration may be void.
    """
    return bool(life.node_id) and not sources(network, life)


def first_hand(network: Network, life: Declaration) -> list[Declaration]:
    """From a declaration back to the one that it began with, the earliest that is seen."""
    path = [life]
    while len(path) < _HOPS_MAX:
        at = path[-1].declared
        earlier = [
            one
            for one in sources(network, path[-1])
            if _is_new(one, path) and (one.declared is None or at is None or one.declared <= at)
        ]
        if not earlier:
            return path
        path.append(min(earlier, key=lambda one: one.declared or Moment(0, None)))
    return path


def given_up(network: Network, life: Declaration) -> list[Declaration]:
    """From a declaration that ended back to the end that was the first of all.

    It ends with a node that gave it up by itself, with a session that ended, or where a node gave
    it up although another still told it so.
    """
    path = [life]
    while len(path) < _HOPS_MAX:
        last = path[-1]
        if last.ended is None or last.ended_by == "session":
            return path
        until_ns = last.ended.time_ns
        found = [one for one in sources(network, last) if _is_new(one, path)]
        ended = [one for one in found if one.ended and one.ended.time_ns <= until_ns + _UNSURE_NS]
        if not ended or any(one.is_alive(until_ns + _GRACE_NS) for one in found):
            return path
        path.append(max(ended, key=lambda one: one.ended or Moment(0, None)))
    return path


def _last_end(found: list[Declaration]) -> Moment | None:
    """When the last of those went that told of it; None where one is still there."""
    ends = [one.ended for one in found if one.ended and one.ended_by in ("session", "router")]
    return max(ends) if ends and len(ends) == len(found) else None


def _ends_too(life: Declaration, end: Moment) -> bool:
    """Whether its own session ended as well: who is in the middle went, and with it both."""
    return life.ended is not None and life.ended.time_ns <= end.time_ns + _GRACE_NS


def _is_new(life: Declaration, path: list[Declaration]) -> bool:
    return all(one is not life for one in path)


def end_with_their_routers(network: Network) -> None:
    """Declarations that came from a router which is gone: they end as it goes.

    Only where every neighbour that told of it is gone: then no other way to it is seen.
    """
    relayed = [
        life
        for life in network.evidence.declarations
        if life.ended_by in (None, "session")
        and life.node_id
        and network.words.role(life.sender) == "router"
    ]
    for _ in range(_HOPS_MAX):  # from router to router
        is_changed = False
        for life in relayed:
            end = None if life.ended_by == "router" else _last_end(sources(network, life))
            if end is None or _ends_too(life, end):
                continue
            begun_ns = 0 if life.declared is None else life.declared.time_ns
            life.ended, life.ended_by = Moment(max(end.time_ns, begun_ns), None), "router"
            is_changed = True
        if not is_changed:
            return
