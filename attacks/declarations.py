"""Attacks by what sessions declare: memory by size, churn, and removal (items 12 and 13)."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Iterator

from attacks.hostile import HostileClient
from attacks.plan import Tally, Target, attack
from zenlake.wire import (
    Declaration,
    DeclareKeyExpr,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    Push,
    Put,
    UndeclareKeyExpr,
    UndeclareSubscriber,
    UndeclareToken,
    WireExpr,
)

DECLARED_MIB_MAX = 300
"""The memory that declarations of an attack may use; once 25 MiB of them used 3.9 GB."""


def deep_key(number: int) -> str:
    """128 chunks; any two of these keys differ in one of the first chunks."""
    return f"{number:05x}/" + "/".join("abcdefgh"[(number >> n % 16) & 7] for n in range(127))


@attack("deep-declarations", "memory", {"grown_mib": DECLARED_MIB_MAX}, seconds=20.0)
def deep_declarations(target: Target, tally: Tally) -> None:
    """100,000 subscribers with keys of 128 chunks each, from one session."""
    client = HostileClient(target, tally)
    count = target.scaled(4_000, 100_000)
    client.declare(DeclareSubscriber(n, WireExpr(0, deep_key(n))) for n in range(count))
    target.sleep(1.0)
    client.close()


@attack("long-tokens", "memory", {"grown_mib": DECLARED_MIB_MAX}, seconds=20.0)
def long_tokens(target: Target, tally: Tally) -> None:
    """Tokens and queryables with keys of 4,000 bytes from ten sessions."""
    clients = [HostileClient(target, tally) for _ in range(10)]
    filler = "x" * 3_980
    count = target.scaled(4_000, 100_000)
    for first in range(0, count, 200):
        client = clients[first // 200 % len(clients)]
        keys = [WireExpr(0, f"{filler}/{n}") for n in range(first, first + 200)]
        half: list[Declaration] = [DeclareToken(n, key) for n, key in enumerate(keys[:100], first)]
        half += [DeclareQueryable(n, key) for n, key in enumerate(keys[100:], first)]
        if not client.declare(half) and target.is_over:
            break
    target.sleep(1.0)
    for one in clients:
        one.close()


@attack("long-aliases", "Q09", {"grown_mib": DECLARED_MIB_MAX}, seconds=20.0)
def long_aliases(target: Target, tally: Tally) -> None:
    """65,536 aliases of 4,000 bytes from each of ten sessions."""
    filler = "x" * 3_980
    for number in range(10):
        client = HostileClient(target, tally)
        count = target.scaled(1_000, 65_536)
        ids = range(1, count)
        client.declare(DeclareKeyExpr(n, WireExpr(0, f"{filler}/{number}/{n}")) for n in ids)
        if target.is_over:
            break


@attack("alias-abuse", "Q09", {"grown_mib": 64}, seconds=8.0)
def alias_abuse(target: Target, tally: Tally) -> None:
    """Undeclared, redefined, chained and withdrawn aliases, each used at once."""
    chance = random.Random(9)
    client = HostileClient(target, tally)
    while not target.is_over:
        declarations: list[Declaration] = []
        for _ in range(500):
            n = chance.randrange(1, 70_000)
            declarations += [
                DeclareKeyExpr(n & 0xFFFF, WireExpr(chance.randrange(65_536), f"/k{n}", False)),
                DeclareKeyExpr(n & 0xFFFF, WireExpr(0, f"k{n}")),
                DeclareSubscriber(n, WireExpr(n & 0xFFFF, "/x", n % 2 == 0)),
                UndeclareKeyExpr(chance.randrange(65_536)),
                UndeclareSubscriber(chance.randrange(70_000)),
            ]
        if not client.declare(declarations):
            tally.count("reconnects")
            client = HostileClient(target, tally)


@attack("session-removal", "Q10", {"grown_mib": DECLARED_MIB_MAX}, seconds=25.0)
def session_removal(target: Target, tally: Tally) -> None:
    """A session with 100,000 declarations ends, again and again."""
    count = target.scaled(10_000, 100_000)
    while not target.is_over:
        client = HostileClient(target, tally)
        client.declare(DeclareSubscriber(n, WireExpr(0, f"gone/{n}")) for n in range(count))
        tally.count("removals")
        client.close(is_reset=True)


@attack("churn", "Q10", {"left_mib": 64}, seconds=12.0)
def churn(target: Target, tally: Tally) -> None:
    """Subscribers and tokens declared and undeclared without rest while others publish."""
    client, publisher = HostileClient(target, tally), HostileClient(target, tally)
    keys = [f"churn/{n % 100}/{n}" for n in range(2_000)]
    publisher.declare(DeclareSubscriber(n, WireExpr(0, key)) for n, key in enumerate(keys))
    puts = [bytes(Push(WireExpr(0, key), Put(b""))) for key in keys[:500]]

    def one_round(first: int) -> Iterator[Declaration]:
        for n in range(first, first + 500):
            yield DeclareSubscriber(n, WireExpr(0, f"churn/*/{n % 7}" if n % 2 else "**"))
            yield DeclareToken(n, WireExpr(0, f"alive/{n}"))
            yield UndeclareSubscriber(n)
            yield UndeclareToken(n)

    first = 10_000
    while client.declare(one_round(first)) and publisher.send(puts) and not target.is_over:
        first += 500
    client.close()
    publisher.close()


@attack(
    "many-sessions",
    "memory",
    # One thread waits for all idle links, by two descriptors.
    {"failed_opens": 0, "grown_mib": DECLARED_MIB_MAX, "threads_left": 1, "files_left": 2},
    seconds=15.0,
    opens="tcp",
)
def many_sessions(target: Target, tally: Tally) -> None:
    """One address opens as many sessions as it can; others still get in."""
    clients: list[HostileClient] = []
    refused = 0
    while len(clients) < 1_100 and refused < 20 and not target.is_over:
        try:
            clients.append(HostileClient(target, tally, wait_s=2.0))
        except Exception:
            refused += 1
    tally.facts["sessions"] = len(clients)
    target.sleep(2.0)
    for one in clients:
        one.close(is_reset=True)


@attack("killed-sessions", "H06, Q15", {"closed_after_s": 3.0, "threads_left": 0}, seconds=12.0)
def killed_sessions(target: Target, tally: Tally) -> None:
    """100 sessions with 10 tokens each fall silent, half of them without a FIN."""
    clients = [
        HostileClient(target, tally, lease_ms=1_000)
        for _ in range(target.scaled(30, 100))
        if not target.is_over
    ]
    for number, one in enumerate(clients):
        one.declare(DeclareToken(n, WireExpr(0, f"killed/{number}/{n}")) for n in range(10))
    for one in clients[::2]:
        one.close(is_reset=True)
    silent = clients[1::2]
    began = time.monotonic()
    while not all(one.is_closed for one in silent) and time.monotonic() - began < 5:
        time.sleep(0.05)
    tally.facts["closed_after_s"] = time.monotonic() - began
    for one in silent:
        one.close()


@attack("many-subscriptions", "K04", {"grown_mib": DECLARED_MIB_MAX}, seconds=25.0)
def many_subscriptions(target: Target, tally: Tally) -> None:
    """100,000 subscriptions, then publications on as many keys, some with wildcards."""
    client, publisher = HostileClient(target, tally), HostileClient(target, tally)
    count = target.scaled(10_000, 100_000)
    client.declare(
        DeclareSubscriber(n, WireExpr(0, f"a/{n % 97}/{n}" if n % 10 else f"a/*/{n}/**"))
        for n in range(count)
    )
    chance = random.Random(4)
    with contextlib.suppress(OSError):
        while not target.is_over:
            numbers = [chance.randrange(count) for _ in range(300)]
            keys = [f"a/{n % 97}/{n}" if n % 10 else f"a/*/{n}" for n in numbers]
            if not publisher.send(Push(WireExpr(0, key), Put(b"")) for key in keys):
                break
            target.sleep(0.02)
    client.close()
    publisher.close()
