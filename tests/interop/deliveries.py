"""Who hears whom on a network of routers, where all clients and peers do the same."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

from tests.interop.puppets import Edges, Held, Kind, attached, open_router, routers

REST_SECONDS = 1.2
"""For trees and declarations to get around."""

TARGETS = ("BEST_MATCHING", "ALL", "ALL_COMPLETE")


class Shape(NamedTuple):
    name: str
    edges: Edges
    size: int
    ends: tuple[int, int]
    """Two routers far from each other."""


LINE = Shape("line", ((0, 1), (1, 2)), 3, (0, 2))
RING = Shape("ring", ((0, 1), (1, 2), (2, 3), (0, 3)), 4, (0, 2))
STAR = Shape("star", ((0, 1), (0, 2), (0, 3)), 4, (1, 3))
SHAPES = (LINE, RING, STAR)
ZIDS = ("a1", "b2", "c3", "d4")
"""Ids decide between ways of equal weight, so they are the same each time."""


def deliveries(
    kinds: Sequence[Kind],
    shape: Shape,
    node: Kind,
    weights: dict[int, dict[int, int]] | None = None,
) -> dict[str, Any]:
    """What each node heard, by name: `c1` is the client of router 1, `p0` the peer of router 0."""
    options: list[dict[str, Any]] = []
    for number in range(shape.size):
        own = (weights or {}).get(number, {})
        listed = [{"dst_zid": ZIDS[other], "weight": weight} for other, weight in own.items()]
        key = "routing/router/linkstate/transport_weights"
        options.append({"id": ZIDS[number], **({key: listed} if listed else {})})
    with ExitStack() as stack:
        held, endpoints = stack.enter_context(routers(kinds, shape.edges, options))
        time.sleep(REST_SECONDS)
        nodes: dict[str, Held] = {}

        def attach(number: int) -> None:
            modes = {"c": "client", "p": "peer"} if number in shape.ends else {"c": "client"}
            for letter, mode in modes.items():
                one = stack.enter_context(attached(node, mode, endpoints[number]))
                nodes[f"{letter}{number}"] = one
                declare_all(f"{letter}{number}", one)

        for number in range(shape.size):
            attach(number)
        time.sleep(REST_SECONDS)
        seen = {"at first": observe(nodes)}
        # The last router leaves with what is attached to it, and comes back.
        far = shape.size - 1
        for name in [name for name in nodes if name.endswith(str(far))]:
            nodes.pop(name).kill()
        held[far].kill()
        time.sleep(REST_SECONDS)
        seen["without the last router"] = observe(nodes)
        again = Held(kinds[far])
        stack.callback(again.kill)
        open_router(again, far, endpoints, shape.edges, options[far])
        time.sleep(REST_SECONDS)
        attach(far)
        time.sleep(REST_SECONDS)
        seen["when it is back"] = observe(nodes)
    return seen


def declare_all(name: str, node: Held) -> None:
    node.ask("subscribe", name="s", key="d/**")
    node.ask("queryable", name="q", key=f"q/{name}", replies=[{"key": f"q/{name}", "value": "01"}])
    node.ask("token", name="t", key=f"t/{name}")
    node.ask("watch", name="w", key="t/**", history=True)
    node.ask("publisher", name="p", key=f"x/{name}")
    if name.startswith("c"):
        answer = [{"key": f"full/{name}", "value": "01"}]
        node.ask("queryable", name="f", key="full/**", replies=answer, complete=True)
    if name == "c1":
        node.ask("subscribe", name="x", key="x/*")


def observe(nodes: dict[str, Held]) -> dict[str, Any]:
    before = {name: len(one.items("s", 0)) for name, one in nodes.items()}
    for name, one in nodes.items():
        one.ask("put", key=f"d/{name}", payload="01")
    time.sleep(REST_SECONDS)
    seen: dict[str, Any] = {}
    for name, one in nodes.items():
        heard = one.items("s", 0)[before[name] :]
        answers: dict[tuple[str, str], Any] = {}
        for key in ("q/*", "full/*"):
            for target in TARGETS:
                got = one.ask("get", selector=key, target=target, consolidation="NONE")["replies"]
                keys = sorted(reply["ok"]["key"] if "ok" in reply else "error" for reply in got)
                # Between routers at the same distance the choice is free.
                answers[key, target] = bool(keys) if target == "BEST_MATCHING" else keys
        seen[name] = {
            "samples": sorted(sample["key"] for sample in heard),
            "answers": answers,
            "alive": alive(one),
            "watched": sorted({tuple(event) for event in one.items("w", 0)}),
            "matching": one.ask("is_matching", name="p")["matching"],
        }
    return seen


def alive(node: Held) -> list[str]:
    """Real nodes find nothing now and then."""
    found: list[str] = []
    for _ in range(20):
        found = sorted(node.ask("alive", key="t/**")["keys"])
        if found:
            break
        time.sleep(REST_SECONDS / 4)
    return found
