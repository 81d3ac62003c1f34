"""Time in which a router finds the route of a new key, and the memory of routes.

    python benchmarks/bench_routes.py [--subscriptions 100000] [--keys 1000000]

A dispatcher in router mode, without links: clients declare the subscribers of a fleet
(`bench_keyexpr_tree.py`), then another client publishes on keys that have no route yet. A time is
that of the whole PUSH: the key is looked up, its route found, cached and used; `again` is the
median of the same PUSH with the cached route. Then `--keys` different keys are published, and
memory is measured in between: it must not grow any more once the caches are full. The longest hold
is the longest time for which a node would hold its lock. Run it alone on the machine.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import time

from bench_keyexpr_tree import SEED, literal_key, mixed_expression
from processes import resident_bytes

from zenlake.routing.dispatcher import Dispatcher
from zenlake.routing.face import Face
from zenlake.routing.outlet import Outlet
from zenlake.routing.settings import RoutingSettings
from zenlake.routing.work import SLICE_STEPS
from zenlake.wire import (
    Declare,
    DeclareSubscriber,
    NetworkMessage,
    Push,
    Put,
    WhatAmI,
    WireExpr,
    ZenohId,
)

CLIENTS = 100
ASKED = 5_000
"""The number of keys of each kind."""
MIB = 1 << 20


class Sink(Outlet):
    """Counts the messages that it receives."""

    def __init__(self) -> None:
        self.count = 0

    def push(self, message: NetworkMessage, key: str, reliable: bool) -> None:
        self.count += 1


def resident_mib() -> float:
    return resident_bytes(os.getpid()) / MIB


class Router:
    def __init__(self) -> None:
        self._dispatcher = Dispatcher(ZenohId.parse("abc"), WhatAmI.ROUTER, RoutingSettings())
        self._number = 0x1000
        self.sink = Sink()
        self.longest_hold_s = 0.0

    def add_client(self) -> Face:
        self._number += 1
        zid = ZenohId.parse(f"{self._number:x}")
        return self._dispatcher.add_face(zid, WhatAmI.CLIENT, self.sink, 0.0)

    def receive(self, face: Face, message: NetworkMessage) -> None:
        dispatcher = self._dispatcher
        began = time.perf_counter()
        dispatcher.receive_run(face, [message], 0, 1, True, 0.0, SLICE_STEPS)
        while face.job is not None or dispatcher.has_jobs:
            ended = time.perf_counter()
            self.longest_hold_s = max(self.longest_hold_s, ended - began)
            began = ended
            if face.job is not None:
                dispatcher.resume(face, SLICE_STEPS)
            else:
                dispatcher.run_jobs(SLICE_STEPS)
        self.longest_hold_s = max(self.longest_hold_s, time.perf_counter() - began)


def fleet(count: int, rng: random.Random) -> list[str]:
    """Different expressions: 70 % literal, the others with `*`, `**`, `$*` or `@`."""
    expressions: dict[str, None] = {}
    while len(expressions) < count:
        expressions[mixed_expression(rng)] = None
    return list(expressions)


def questions(expressions: list[str], rng: random.Random) -> dict[str, list[str]]:
    """Keys and expressions to publish on, by kind."""
    literals = [one for one in expressions if "*" not in one]
    keys = [literal_key(rng) for _ in range(ASKED)]
    return {
        "no subscriber": [f"plant-{rng.randrange(50)}/x-{n}/y/z" for n in range(ASKED)],
        "one, its own key": rng.sample(literals, min(ASKED, len(literals))),
        "some, of all kinds": [f"{key}-{n}" for n, key in enumerate(keys)],
        "some, long keys": [f"{key}/{'a/b/c/d/' * 8}{n}" for n, key in enumerate(keys)],
        "all clients": [f"all/{n}/value" for n in range(ASKED)],
        "verbatim": [f"@admin/robot-{rng.randrange(2000)}/log/{n}" for n in range(ASKED)],
        "`*` at the end": [f"{key.rsplit('/', 1)[0]}/*/{n}" for n, key in enumerate(keys)],
        "`*` at the begin": [
            f"*/{key.split('/', 1)[1]}-{n}" for n, key in enumerate(keys[: ASKED // 50])
        ],
        "`$*` in a chunk": [f"{key.split('/', 1)[0]}/robot-1$*/{n}" for n, key in enumerate(keys)][
            : ASKED // 50
        ],
        "`**` at the end": [f"{'/'.join(key.split('/')[:2])}/**/{n}" for n, key in enumerate(keys)],
        "`**` over everything": [f"**/pose/{n}" for n in range(10)],
    }


def times_us(router: Router, face: Face, messages: list[NetworkMessage]) -> list[float]:
    """The times of the publications in microseconds, ascending."""
    times = []
    for message in messages:
        began = time.perf_counter_ns()
        router.receive(face, message)
        times.append((time.perf_counter_ns() - began) / 1_000)
    return sorted(times)


def ask_all(router: Router, face: Face, name: str, keys: list[str]) -> None:
    messages: list[NetworkMessage] = [Push(WireExpr(0, key), Put(b"x")) for key in keys]
    before = router.sink.count
    router.longest_hold_s = 0.0
    times = times_us(router, face, messages)
    sent = (router.sink.count - before) / len(keys)
    hold_ms = router.longest_hold_s * 1e3
    again = times_us(router, face, messages)
    median, late = times[len(times) // 2], times[len(times) * 99 // 100]
    print(
        f"{name:<22} to {sent:6.1f} clients  median {median:9.1f}  p99 {late:9.1f}"
        f"  again {again[len(again) // 2]:6.1f} us  longest hold {hold_ms:6.1f} ms",
        flush=True,
    )


def declare_all(router: Router, expressions: list[str]) -> None:
    before = resident_mib()
    clients = [router.add_client() for _ in range(CLIENTS)]
    began = time.perf_counter()
    for number, expression in enumerate(expressions):
        body = DeclareSubscriber(number + 10, WireExpr(0, expression))
        router.receive(clients[number % CLIENTS], Declare(body))
    for client in clients:
        router.receive(client, Declare(DeclareSubscriber(1, WireExpr(0, "all/**"))))
    took_us = (time.perf_counter() - began) / len(expressions) * 1e6
    gc.collect()
    print(
        f"{len(expressions):,} subscriptions of {CLIENTS} clients: {took_us:.1f} us each,"
        f" {resident_mib() - before:.0f} MiB more, {resident_mib():.0f} MiB in all",
        flush=True,
    )


def publish_many(router: Router, face: Face, count: int) -> None:
    """Publishes on different keys, some of which have a subscriber."""
    gc.collect()
    first = highest = resident_mib()
    began = time.perf_counter()
    router.longest_hold_s = 0.0
    for number in range(count):
        key = f"site-{number % 60}/robot-{number % 2100}/pose/{number}"
        router.receive(face, Push(WireExpr(0, key), Put(b"x")))
        if number % 10_000 == 0:
            highest = max(highest, resident_mib())
        if (number + 1) % max(1, count // 5) == 0:
            took_us = (time.perf_counter() - began) / (number + 1) * 1e6
            print(
                f"{number + 1:,} different keys: {took_us:.1f} us each, longest hold"
                f" {router.longest_hold_s * 1e3:.1f} ms; {resident_mib() - first:+.0f} MiB, at most"
                f" {highest - first:+.0f} MiB, {resident_mib():.0f} MiB in all",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--subscriptions", type=int, default=100_000)
    parser.add_argument("--keys", type=int, default=1_000_000)
    arguments = parser.parse_args()
    rng = random.Random(SEED)
    expressions = fleet(arguments.subscriptions, rng)
    router = Router()
    declare_all(router, expressions)
    publisher = router.add_client()
    for name, keys in questions(expressions, rng).items():
        ask_all(router, publisher, name, keys)
    publish_many(router, publisher, arguments.keys)


if __name__ == "__main__":
    main()
