"""Networks of linkstate peers and routers (`routing/peer/mode`, releases up to 1.8), and what each
node receives from the others.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from tests.interop.puppets import Kind, PuppetProcess, attached, settings
from tests.ports import free_endpoint
from tests.waiting import until

_REST_SECONDS = 1.2

WAIT_SECONDS = 30

LINKSTATE = {"routing/peer/mode": "linkstate"}
KEYS_PER_NODE = 6
"""The number of publications of each node: enough that each router is elected for some keys."""

ROUTERS = "abc"
ZIDS = {name: f"{name}{name}" for name in "abcdef"} | {"p": "1a", "q": "1b", "s": "1c"}


@contextmanager
def network(
    kinds: dict[str, Kind], links: Sequence[str], client: Kind | None = None
) -> Iterator[dict[str, PuppetProcess]]:
    """Nodes by letters, those of `ROUTERS` are routers; `pa` is a link of the nodes `p` and `a`.

    With `client`, every node has a client: `p` that of `p`, and so on; the node itself else.
    """
    endpoints = {name: free_endpoint() for name in kinds}
    with ExitStack() as stack:
        nodes: dict[str, PuppetProcess] = {}
        for name, kind in kinds.items():
            node = PuppetProcess(kind)
            stack.callback(node.kill)
            nodes[name] = node
            others = [endpoints[link[1]] for link in links if link[0] == name]
            node.open(
                **settings(
                    "router" if name in ROUTERS else "peer",
                    **LINKSTATE,
                    **{
                        "id": ZIDS[name],
                        "listen/endpoints": [endpoints[name]],
                        "connect/endpoints": others,
                    },
                )
            )
        rest()
        if client is not None:
            for name in kinds:
                nodes["c" + name] = stack.enter_context(attached(client, "client", endpoints[name]))
        yield nodes


def rest(times: int = 1) -> None:
    """Wait for trees and declarations to reach all nodes, which is not observable."""
    time.sleep(times * _REST_SECONDS)


def declare_all(name: str, node: PuppetProcess) -> None:
    node.ask("subscribe", name="s", key="d/**")
    node.ask("queryable", name="q", key=f"q/{name}", replies=[{"key": f"q/{name}", "value": "01"}])
    node.ask("token", name="t", key=f"t/{name}")


def wait_for_all(nodes: dict[str, PuppetProcess]) -> None:
    """Wait until each node knows the tokens of all others, which were declared last."""
    for name, node in nodes.items():
        others = {f"t/{other}" for other in nodes} - {f"t/{name}"}
        until(partial(knows, node, others), WAIT_SECONDS)


def knows(node: PuppetProcess, tokens: set[str]) -> bool:
    return tokens <= set(node.ask("alive", key="t/**")["keys"])


def observe(nodes: dict[str, PuppetProcess]) -> dict[str, Any]:
    """What each node receives from the others, and from itself."""
    wait_for_all(nodes)
    before = {name: len(node.items("s", 0)) for name, node in nodes.items()}
    for name, node in nodes.items():
        for number in range(KEYS_PER_NODE):
            node.ask("put", key=f"d/{name}/{number}", payload="01")
    seen: dict[str, Any] = {}
    for name, node in nodes.items():
        count = before[name] + KEYS_PER_NODE * len(nodes)
        heard = node.items("s", count)[before[name] :]
        replies = node.ask("get", selector="q/*", target="ALL", consolidation="NONE")["replies"]
        seen[name] = {
            "samples": sorted(sample["key"] for sample in heard),
            "answers": sorted(one["ok"]["key"] if "ok" in one else "error" for one in replies),
            "alive": sorted(node.ask("alive", key="t/**")["keys"]),
        }
    return seen


def everything(names: Sequence[str]) -> dict[str, Any]:
    """What the nodes should receive: everything, once."""
    one = {
        "samples": sorted(f"d/{name}/{n}" for name in names for n in range(KEYS_PER_NODE)),
        "answers": sorted(f"q/{name}" for name in names),
        "alive": sorted(f"t/{name}" for name in names),
    }
    return dict.fromkeys(names, one)
