"""Deliveries on a network of routers, where all clients and peers publish, query and declare alike.

A simple model defines what each node must receive; networks of real routers agree with it.
"""

from __future__ import annotations

import time
from typing import Any

from tests.interop.mixed_network import MixedNetwork
from tests.interop.puppets import PuppetProcess

SETTLED_SECONDS_MAX = 30.0
ROUND_SECONDS = 0.5
"""How long publications may take before a round counts as failed."""

REGIONS_SINCE = (1, 9)
TARGETS = ("BEST_MATCHING", "ALL", "ALL_COMPLETE")
Heard = dict[str, Any]


def declare_all(network: MixedNetwork) -> None:
    for name, node in network.nodes.items():
        node.ask("subscribe", name="s", key="d/**")
        answer = [{"key": f"q/{name}", "value": "01"}]
        node.ask("queryable", name="q", key=f"q/{name}", replies=answer)
        node.ask("token", name="t", key=f"t/{name}")
        node.ask("watch", name="w", key="t/**", history=True)
        node.ask("publisher", name="p", key=f"x/{name}")
        if name.startswith("c"):
            answer = [{"key": f"full/{name}", "value": "01"}]
            node.ask("queryable", name="f", key="full/**", replies=answer, complete=True)
        if name == "c1":
            node.ask("subscribe", name="x", key="x/*")


def expected(network: MixedNetwork) -> dict[str, Heard]:
    """What each node must receive, by its name, if its router is there."""
    graph, found = network.graph, {}
    for name in network.nodes:
        distances = graph.distances(int(name[1]))
        others = sorted(other for other in network.nodes if int(other[1]) in distances)
        clients = [other for other in others if other.startswith("c")]
        if not distances:
            continue
        found[name] = {
            "samples": others,
            "q/* ALL": others,
            "q/* BEST_MATCHING": others,
            "q/* ALL_COMPLETE": [],
            "full/* ALL": clients,
            "full/* BEST_MATCHING": nearest(network, name) if network.weights else [],
            "full/* ALL_COMPLETE": clients,
            "alive": others,
            "watched": others,
            "matching": 1 in distances,
        }
        if not network.weights:  # if two are equally near, either may answer
            del found[name]["full/* BEST_MATCHING"]
    return found


def nearest(network: MixedNetwork, name: str) -> list[str]:
    """The repliers if one complete queryable is enough.

    Each node on the way chooses one in each of its regions: its own session, the clients of a
    router, all other routers. Routers before 1.9 have one region.
    """
    source, graph = int(name[1]), network.graph
    found = [name] if name.startswith("c") else []
    at = source
    while True:
        if f"c{at}" not in found:
            found.append(f"c{at}")
            if network.routers[at].kind.version < REGIONS_SINCE:
                break
        distances = graph.distances(at)
        ahead = [router for router in graph.below(source, at) if router != at]
        if not ahead:
            break
        target = min(ahead, key=lambda router: distances[router])
        at = graph.next_hop(source, at, target)
    return sorted(found)


def settle(network: MixedNetwork, first_round: int) -> tuple[int, float]:
    """Wait for two correct rounds in a row; returns the last one, and the seconds."""
    start, number, passed = time.monotonic(), first_round, 0
    while True:
        wanted = expected(network)
        heard = observe(network, number, wanted)
        passed = passed + 1 if heard == wanted else 0
        if passed == 2:
            return number, time.monotonic() - start
        if not passed and time.monotonic() - start > SETTLED_SECONDS_MAX:
            raise AssertionError(difference(heard, wanted))
        number += 1


def difference(heard: dict[str, Heard], wanted: dict[str, Heard]) -> str:
    return "\n".join(
        f"{name} {what}: {heard[name][what]} instead of {wanted[name][what]}"
        for name in wanted
        for what in wanted[name]
        if heard[name][what] != wanted[name][what]
    )


def observe(network: MixedNetwork, number: int, wanted: dict[str, Heard]) -> dict[str, Heard]:
    """What each node receives in one round."""
    nodes = {name: network.nodes[name] for name in wanted}
    before = {name: len(one.items("s", 0, quiet=0)) for name, one in nodes.items()}
    for name, one in nodes.items():
        one.ask("put", key=f"d/{number}/{name}", payload="01")
    deadline = time.monotonic() + ROUND_SECONDS
    for name, one in nodes.items():
        count = before[name] + len(wanted[name]["samples"])
        one.items("s", count, seconds=max(0.0, deadline - time.monotonic()), quiet=0)
    seen = {name: replies_and_tokens(one) for name, one in nodes.items()}
    # Read last, so that duplicates have had time to arrive.
    for name, one in nodes.items():
        keys = [sample["key"] for sample in one.items("s", 0, quiet=0)[before[name] :]]
        seen[name]["samples"] = sorted(last(key) for key in keys if key.startswith(f"d/{number}/"))
    return {name: {what: seen[name][what] for what in wanted[name]} for name in wanted}


def replies_and_tokens(node: PuppetProcess) -> Heard:
    seen: Heard = {}
    for key in ("q/*", "full/*"):
        for target in TARGETS:
            how = {"target": target, "consolidation": "NONE", "timeout": 5.0}
            replies = node.ask("get", selector=key, **how)["replies"]
            keys = [last(reply["ok"]["key"]) if "ok" in reply else "error" for reply in replies]
            seen[f"{key} {target}"] = sorted(keys)
    events: dict[str, str] = {}
    for kind, key in node.items("w", 0, quiet=0):
        events[last(key)] = kind
    return seen | {
        "alive": alive(node),
        "watched": sorted(name for name, kind in events.items() if kind == "PUT"),
        "matching": node.ask("is_matching", name="p")["matching"],
    }


def alive(node: PuppetProcess) -> list[str]:
    """The tokens that a node finds; real nodes occasionally find none."""
    found: list[str] = []
    for _ in range(20):
        found = sorted(map(last, node.ask("alive", key="t/**")["keys"]))
        if found:
            break
    return found


def last(key: str) -> str:
    return key.rpartition("/")[2]
