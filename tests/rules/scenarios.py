"""Scenarios of real nodes of one release, recorded (limits: V02).

Each is a small function that opens nodes on a `RecordedNetwork`. Nodes that listen are behind a
tap, so that recording needs no privilege.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from tests.interop.cases import HELLO, settle
from tests.interop.puppets import PuppetProcess
from tests.ports import free_port
from tests.rules.recorded_network import GROUP, Config, RecordedNetwork
from tests.waiting import until
from zenlake.wire import Scout, WhatAmIMatcher

CHURN_SECONDS = 3.0
LOW_LATENCY: Config = {"transport/unicast/lowlatency": True, "transport/unicast/qos/enabled": False}


Scenario = Callable[[RecordedNetwork], None]
SCENARIOS: dict[str, Scenario] = {}
TOO_MUCH_FOR: dict[str, tuple[int, ...]] = {"everything_at_once": (1, 0, 4)}
"""The releases that do not come back from it: an `undeclare` of 1.0.4 waits forever."""


def scenario(function: Scenario) -> Scenario:
    SCENARIOS[function.__name__] = function
    return function


def is_alive(observer: PuppetProcess) -> bool:
    return bool(observer.ask("alive", key="group/**")["keys"] == ["group/me"])


def clients(
    network: RecordedNetwork, options: Config | None = None, protocol: str = "tcp"
) -> tuple[PuppetProcess, PuppetProcess]:
    """Open two clients of a router."""
    options = options or {}
    _, endpoint = network.listener("router", options, protocol)
    connecting = options | {"connect/endpoints": [endpoint]}
    return network.node("client", connecting), network.node("client", connecting)


def peers(network: RecordedNetwork) -> tuple[PuppetProcess, PuppetProcess]:
    a, endpoint = network.listener("peer")
    return a, network.node("peer", {"connect/endpoints": [endpoint]})


@scenario
def publications(network: RecordedNetwork) -> None:
    names = ("put_and_delete", "everything_a_sample_carries", "source_info", "localities")
    network.run(*clients(network), *names)


@scenario
def priorities(network: RecordedNetwork) -> None:
    names = ("every_priority_and_congestion_control", "a_wildcard_is_published")
    network.run(*peers(network), *names)


@scenario
def declared_publishers(network: RecordedNetwork) -> None:
    network.run(*clients(network), "declared_publishers_and_wildcards")
    network.run(*peers(network), "declared_publishers_and_wildcards")


@scenario
def large_payloads(network: RecordedNetwork) -> None:
    network.run(*clients(network), "ten_megabytes", "large_replies")


@scenario
def many_messages(network: RecordedNetwork) -> None:
    network.run(*peers(network), "ten_thousand_in_order")


@scenario
def queries(network: RecordedNetwork) -> None:
    names = ("a_query_and_its_reply", "nobody_answers", "errors_and_deletions")
    network.run(*clients(network), *names)
    network.run(*peers(network), *names)


@scenario
def targets(network: RecordedNetwork) -> None:
    names = ("targets", "many_replies_and_consolidation", "any_key_may_answer")
    network.run(*clients(network), *names)
    a, b = peers(network)
    replies = [{"key": "demo/t/1", "value": HELLO}]
    b.ask("queryable", name="q", key="demo/t/*", replies=replies, complete=True)
    settle()
    for target in ("BEST_MATCHING", "ALL", "ALL_COMPLETE"):
        assert len(a.ask("get", selector="demo/t/1", target=target)["replies"]) == 1


@scenario
def unanswered(network: RecordedNetwork) -> None:
    """Timeouts, cancellation, and a replier that dies."""
    a, b = clients(network)
    network.run(a, b, "a_timeout", "a_query_is_cancelled")
    b.ask("queryable", name="dies", key="demo/dies", replies=[{"value": HELLO, "after": 9}])
    settle()
    a.post("get", selector="demo/dies", timeout=8.0)
    settle()
    network.kill(b)
    assert a.answer()["seconds"] < 5


@scenario
def queriers_and_matching(network: RecordedNetwork) -> None:
    names = ("a_declared_querier", "matching", "a_querier_matches")
    network.run(*clients(network), *names)
    network.run(*peers(network), *names)


@scenario
def presence(network: RecordedNetwork) -> None:
    network.run(*clients(network), "liveliness")
    network.run(*peers(network), "liveliness")


@scenario
def compressed(network: RecordedNetwork) -> None:
    a, b = clients(network, {"transport/unicast/compression/enabled": True})
    network.run(a, b, "put_and_delete", "a_query_and_its_reply", "ten_megabytes", "liveliness")


@scenario
def low_latency(network: RecordedNetwork) -> None:
    a, b = clients(network, LOW_LATENCY)
    network.run(a, b, "put_and_delete", "a_query_and_its_reply", "liveliness", "a_timeout")


@scenario
def without_priorities(network: RecordedNetwork) -> None:
    a, b = clients(network, {"transport/unicast/qos/enabled": False})
    network.run(a, b, "put_and_delete", "a_query_and_its_reply", "large_replies", "liveliness")


@scenario
def small_batches_and_numbers(network: RecordedNetwork) -> None:
    place = "transport/link/tx"
    for bits, size in (("8bit", 4_000), ("16bit", 1_000)):
        options: Config = {f"{place}/sequence_number_resolution": bits, f"{place}/batch_size": size}
        network.run(*clients(network, options), "ten_megabytes", "ten_thousand_in_order")


@scenario
def datagrams(network: RecordedNetwork) -> None:
    names = ("put_and_delete", "a_query_and_its_reply", "liveliness")
    network.run(*clients(network, protocol="udp"), *names)


@scenario
def a_group(network: RecordedNetwork) -> None:
    """Peers of a multicast group, which carries publications only."""
    tap = network.group_tap()
    options: Config = {"listen/endpoints": [f"udp/{GROUP}:{tap.port}#iface=lo"]}
    a, b = network.node("peer", options), network.node("peer", options)
    b.ask("subscribe", name="s", key="demo/**")
    a.ask("publisher", name="p", key="demo/declared")
    for _ in range(20):  # a node that lacks our JOIN drops all messages; we send JOIN every 2.5 s
        a.ask("publish", name="p", payload=HELLO)
        if heard := len(b.items("s", 1, seconds=0.5)):
            break
    for size in (10, 100_000):
        a.ask("fill", key="demo/group", bytes=size, congestion_control="BLOCK")
    a.ask("delete", key="demo/group")
    assert len(b.items("s", heard + 3)) > heard > 0  # datagrams may be lost


@scenario
def scouting(network: RecordedNetwork) -> None:
    tap = network.group_tap()
    options: Config = {
        "scouting/multicast/enabled": True,
        "scouting/multicast/address": f"{GROUP}:{tap.port}",
        "scouting/multicast/interface": "lo",
        "listen/endpoints": ["tcp/127.0.0.1:0"],
    }
    nodes = network.node("router", options), network.node("peer", options)
    client = network.node("client", options | {"listen/endpoints": []})
    assert nodes[0].zid in client.ask("info")["routers"] or client.ask("info")["peers"]
    for what in (1, 2, 3, 7):
        tap.ask(bytes(Scout(WhatAmIMatcher(what))))
    settle()


@scenario
def routers_and_gossip(network: RecordedNetwork) -> None:
    """Two routers, a peer and a client at each; they announce each other."""
    options: Config = {"scouting/gossip/enabled": True}
    _, first = network.listener("router", options)
    _, second = network.listener("router", options | {"connect/endpoints": [first]})
    at_first, at_second = ({"connect/endpoints": [one]} for one in (first, second))
    a, b = network.node("client", at_first), network.node("client", at_second)
    c, d = network.node("peer", options | at_first), network.node("peer", options | at_second)
    names = ("put_and_delete", "a_query_and_its_reply", "liveliness", "matching")
    settle()
    network.run(a, b, *names)
    network.run(c, b, "put_and_delete", "errors_and_deletions")
    network.run(d, c, "put_and_delete", "nobody_answers")


@scenario
def a_router_comes_back(network: RecordedNetwork) -> None:
    port = free_port()
    listening: Config = {"listen/endpoints": [f"tcp/127.0.0.1:{port}"]}
    router = network.node("router", listening)
    connecting: Config = {
        "connect/endpoints": [network.tap(port)],
        "connect/retry": {"period_init_ms": 200},
    }
    client = network.node("client", connecting)
    client.ask("subscribe", name="s", key="demo/**")
    client.ask("queryable", name="q", key="ask/me", replies=[{"key": "ask/me", "value": HELLO}])
    client.ask("token", name="t", key="group/me")
    client.ask("watch", name="w", key="group/**", history=True)
    for is_announced in (True, False):
        settle()
        if is_announced:
            router.ask("close")
        network.kill(router)
        router = network.node("router", listening)
        friend = network.node("client", connecting)
        until(partial(is_alive, friend))
        friend.ask("put", key="demo/x", payload=HELLO)
        assert len(friend.ask("get", selector="ask/me")["replies"]) == 1


@scenario
def passwords_and_leases(network: RecordedNetwork) -> None:
    """A session with a password, timestamps on all messages, and a short lease that stays idle."""
    book = network.folder / "users.txt"
    book.write_text("alice:secret\n")
    place = "transport/auth/usrpwd"
    options: Config = {
        f"{place}/user": "alice",
        f"{place}/password": "secret",
        f"{place}/dictionary_file": str(book),
        "transport/link/tx/lease": 2_000,
        "timestamping/enabled": True,
    }
    a, b = clients(network, options)
    network.run(a, b, "put_and_delete", "a_query_and_its_reply")
    time.sleep(4)  # two leases
    network.run(a, b, "a_declared_querier", "a_node_goes")
    network.kill(a)


@scenario
def everything_at_once(network: RecordedNetwork) -> None:
    """Declarations, publications and queries cross each other, and nodes leave in between."""
    _, endpoint = network.listener("router")
    connecting: Config = {"connect/endpoints": [endpoint]}
    nodes = [network.node(mode, connecting) for mode in ("client", "client", "peer", "peer")]
    for seed, node in enumerate(nodes):
        node.post("churn", seed=seed, seconds=CHURN_SECONDS)
    for node in nodes:
        assert node.answer()["done"] > 10


@scenario
def closed_under_load(network: RecordedNetwork) -> None:
    """Clients, and then their router, are closed while they have more to send than they can."""
    for options, size in ((Config(), 100_000), (LOW_LATENCY, 1_000)):
        router, endpoint = network.listener("router", options)
        connecting = options | {"connect/endpoints": [endpoint]}
        watching = network.node("client", connecting)
        watching.ask("subscribe", name="s", key="flood/small")
        nodes = [network.node(mode, connecting) for mode in ("client", "peer")]
        for node in nodes:
            node.ask("flood", key="flood/large", bytes=size, priority="BACKGROUND")
            node.ask("flood", key="flood/small", bytes=8, priority="REAL_TIME")
        settle()
        network.close(nodes[0])
        network.close(router)
