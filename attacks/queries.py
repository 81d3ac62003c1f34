"""Attacks by queries: open ones, dead repliers, floods and wrong answers (Q04 to Q08)."""

from __future__ import annotations

import itertools
import random

from attacks.hostile import HostileClient
from attacks.plan import Tally, Target, attack
from zenlake.wire import (
    DeclareQueryable,
    NetworkMessage,
    Put,
    Query,
    QueryTarget,
    Reply,
    Request,
    Response,
    ResponseFinal,
    WireExpr,
)


def request(number: int, key: str, timeout_ms: int = 600_000, body: str = "") -> Request:
    return Request(
        number,
        WireExpr(0, key),
        Query(parameters=body or None),
        target=QueryTarget.ALL,
        timeout_ms=timeout_ms,
    )


@attack("open-requests", "Q06", {"grown_mib": 300}, seconds=15.0)
def open_requests(target: Target, tally: Tally) -> None:
    """10,000 requests of 4 kB from each of ten sessions to a replier that never answers."""
    replier = HostileClient(target, tally)
    replier.declare([DeclareQueryable(1, WireExpr(0, "never/**"))])
    target.sleep(0.2)
    body, deep = "p" * 2_000, "/".join(["never", *"ab" * 60])
    count = target.scaled(500, 10_000)
    clients = []
    for _ in range(10):
        clients.append(HostileClient(target, tally))
        if (
            not clients[-1].send(request(n, f"{deep}/{n}", body=body) for n in range(count))
            and target.is_over
        ):
            break
    target.sleep(1.0)
    replier.close(is_reset=True)
    target.sleep(1.0)
    for one in clients:
        one.close()


@attack("dead-replier", "Q05, Q06", {"left_mib": 64}, seconds=10.0)
def dead_replier(target: Target, tally: Tally) -> None:
    """Thousands of open queries, some of which end after 1 ms; then their replier dies."""
    while not target.is_over:
        replier, asker = HostileClient(target, tally), HostileClient(target, tally)
        replier.declare([DeclareQueryable(1, WireExpr(0, "dead/**"))])
        target.sleep(0.2)
        count = target.scaled(2_000, 9_000)
        asker.send(request(n, f"dead/{n}", 1 if n % 2 else 60_000) for n in range(count))
        target.sleep(0.5)
        replier.close(is_reset=True)
        target.sleep(0.2)
        asker.close()


@attack("reply-flood", "Q08", {"grown_mib": 64}, seconds=12.0)
def reply_flood(target: Target, tally: Tally) -> None:
    """Replies without end to one query with a budget of ten."""
    replier, asker = HostileClient(target, tally), HostileClient(target, tally)
    replier.declare([DeclareQueryable(1, WireExpr(0, "flood"))])
    target.sleep(0.2)
    asker.send([Request(1, WireExpr(0, "flood"), Query(), budget=10, timeout_ms=60_000)])
    target.sleep(0.2)
    # The node numbers its requests to the replier itself: the first ones are tried.
    replies = [bytes(Response(id, WireExpr(0, "flood"), Reply(Put(bytes(100))))) for id in range(4)]
    while not target.is_over and replier.send(itertools.chain(*[replies] * 500)):
        pass
    tally.facts["delivered_mib"] = asker.received_bytes / (1 << 20)


@attack("deaf-asker", "H07, Q08", {"grown_mib": 64}, seconds=12.0)
def deaf_asker(target: Target, tally: Tally) -> None:
    """Large replies for a requester that reads nothing."""
    replier = HostileClient(target, tally)
    asker = HostileClient(target, tally, is_deaf=True)
    replier.declare([DeclareQueryable(1, WireExpr(0, "flood"))])
    target.sleep(0.2)
    asker.send([Request(1, WireExpr(0, "flood"), Query(), timeout_ms=60_000)])
    target.sleep(0.2)
    replies = [
        bytes(Response(id, WireExpr(0, "flood"), Reply(Put(bytes(10_000))))) for id in range(4)
    ]
    while not target.is_over and replier.send(itertools.chain(*[replies] * 20)):
        pass
    asker.close(is_reset=True)


@attack("wrong-responses", "Q04", {"grown_mib": 32}, seconds=8.0)
def wrong_responses(target: Target, tally: Tally) -> None:
    """Responses after the final, two finals, none, wrong and reused request ids."""
    chance = random.Random(4)
    replier, asker = HostileClient(target, tally), HostileClient(target, tally)
    replier.declare([DeclareQueryable(1, WireExpr(0, "wrong/**"))])
    target.sleep(0.2)
    while not target.is_over:
        asked = [request(chance.randrange(200), f"wrong/{n}", 50) for n in range(200)]
        answers: list[NetworkMessage] = []
        for _ in range(200):
            id = chance.choice((chance.randrange(2_000), chance.randrange(1 << 32)))
            reply = Response(id, WireExpr(0, "wrong/1"), Reply(Put(b"x")))
            final = ResponseFinal(id)
            answers += chance.choice(
                ([final], [final, reply], [final, final], [reply], [reply, final, reply, final])
            )
        if not asker.send(asked) or not replier.send(answers):
            tally.count("closed")
            break
