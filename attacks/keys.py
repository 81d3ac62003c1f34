"""Attacks by key expressions: patterns that match slowly against what is stored (K01)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from attacks.hostile import HostileClient
from attacks.plan import Tally, Target, attack
from zenlake.wire import (
    Declare,
    DeclareSubscriber,
    DeclareToken,
    Interest,
    InterestMode,
    NetworkMessage,
    Push,
    Put,
    Query,
    Request,
    UndeclareSubscriber,
    WireExpr,
)

STARS = "/".join(["**/aaa"] * 60) + "/b"
"""A pattern of 421 bytes, 121 chunks, that nearly matches any long key of `aaa`."""
DOLLARS = "/".join(["$*a$*a$*a"] * 60) + "/b"
CAP = "/".join(["**/aaa"] * 60) + "/" + "$*a" * 1_200 + "b"
"""Nearly as long as a key may be, with both kinds of wildcard."""


def long_keys(count: int, chunks: int = 120, last: str = "aaa") -> Iterator[str]:
    """Keys of many `aaa`, each different in one early chunk and none with a `b`."""
    for n in range(count):
        place = n % 8
        yield "/".join(["aaa"] * place + [f"c{n}"] + ["aaa"] * (chunks - place) + [last])


def stored(target: Target, tally: Tally, last: str = "aaa") -> HostileClient:
    """A session that declared the keys to be matched: subscribers and tokens."""
    client = HostileClient(target, tally)
    keys = list(long_keys(target.scaled(3_000, 20_000), last=last))
    client.declare(DeclareSubscriber(n, WireExpr(0, key)) for n, key in enumerate(keys))
    client.declare(DeclareToken(n, WireExpr(0, key)) for n, key in enumerate(keys[:5_000]))
    return client


def variants(pattern: str) -> Iterator[str]:
    """The same pattern with another end each time, so that no cache helps."""
    for n in itertools.count():
        yield f"{pattern}{n}"


def against(
    target: Target,
    tally: Tally,
    pattern: str,
    message: Callable[[int, str], NetworkMessage],
    last: str = "aaa",
) -> None:
    keep = stored(target, tally, last)
    client = HostileClient(target, tally)
    for n, key in enumerate(variants(pattern)):
        if target.is_over or not client.send([message(n, key)]):
            break
        target.sleep(0.02)
    client.close()
    keep.close()


def push(n: int, key: str) -> NetworkMessage:
    return Push(WireExpr(0, key), Put(b""))


def request(n: int, key: str) -> NetworkMessage:
    return Request(n, WireExpr(0, key), Query())


def subscriber(n: int, key: str) -> NetworkMessage:
    return Declare(DeclareSubscriber(n, WireExpr(0, key)))


def interest(n: int, key: str) -> NetworkMessage:
    return Interest(
        InterestMode.CURRENT_FUTURE, n, subscribers=True, tokens=True, key=WireExpr(0, key)
    )


@attack("star-push", "K01", seconds=12.0)
def star_push(target: Target, tally: Tally) -> None:
    """Publications on 421 bytes of `**/a` against 20,000 long stored keys."""
    against(target, tally, STARS, push)


@attack("star-request", "K01", seconds=12.0)
def star_request(target: Target, tally: Tally) -> None:
    """Requests on 421 bytes of `**/a` against 20,000 long stored keys."""
    against(target, tally, STARS, request)


@attack("star-declaration", "K01", seconds=12.0)
def star_declaration(target: Target, tally: Tally) -> None:
    """Subscribers on 421 bytes of `**/a` against 20,000 long stored keys."""
    against(target, tally, STARS, subscriber)


@attack("star-interest", "K01", seconds=12.0)
def star_interest(target: Target, tally: Tally) -> None:
    """Interests on 421 bytes of `**/a` against 20,000 long stored keys."""
    against(target, tally, STARS, interest)


@attack("dollar-push", "K01", seconds=12.0)
def dollar_push(target: Target, tally: Tally) -> None:
    """Publications on 60 chunks of `$*a$*a$*a` against 20,000 long stored keys."""
    against(target, tally, DOLLARS, push)


@attack("cap-push", "K01, K05", seconds=12.0)
def cap_push(target: Target, tally: Tally) -> None:
    """Publications on patterns as long as a key may be, against 20,000 long stored keys."""
    against(target, tally, CAP, push, "a" * 200)


@attack("stored-stars", "K01", seconds=12.0)
def stored_stars(target: Target, tally: Tally) -> None:
    """Publications on long plain keys against 5,000 stored patterns of `**/a`."""
    keep = HostileClient(target, tally)
    patterns = itertools.islice(variants(STARS), target.scaled(1_000, 5_000))
    keep.declare(DeclareSubscriber(n, WireExpr(0, key)) for n, key in enumerate(patterns))
    client = HostileClient(target, tally)
    for key in itertools.cycle(long_keys(100_000)):
        if target.is_over or not client.send([push(0, key)]):
            break
        target.sleep(0.005)
    client.close()
    keep.close()


@attack("pattern-churn", "K01", seconds=12.0)
def pattern_churn(target: Target, tally: Tally) -> None:
    """A slow pattern declared and undeclared 50 times a second: routes are computed anew."""
    keep = stored(target, tally)
    client = HostileClient(target, tally)
    for n, key in enumerate(variants(STARS)):
        both = [DeclareSubscriber(n, WireExpr(0, key)), UndeclareSubscriber(n)]
        if target.is_over or not client.declare(both):
            break
        target.sleep(0.02)
    client.close()
    keep.close()


@attack("token-interests", "Q15", {"grown_mib": 300}, seconds=20.0)
def token_interests(target: Target, tally: Tally) -> None:
    """250 INTERESTs in one frame against 50,000 tokens, all of which match."""
    keep = HostileClient(target, tally)
    count = target.scaled(5_000, 50_000)
    keep.declare(DeclareToken(n, WireExpr(0, f"alive/{n}")) for n in range(count))
    client = HostileClient(target, tally)
    kind = WireExpr(0, "**")
    client.send(Interest(InterestMode.CURRENT, n, tokens=True, key=kind) for n in range(1, 251))
    target.sleep(target.seconds)
    tally.facts["answered_mib"] = client.received_bytes / (1 << 20)
    client.close()
    keep.close()


@attack("deaf-interests", "H07", {"grown_mib": 300}, seconds=15.0)
def deaf_interests(target: Target, tally: Tally) -> None:
    """The same from sessions that read none of the answers."""
    keep = HostileClient(target, tally)
    count = target.scaled(5_000, 50_000)
    keep.declare(DeclareToken(n, WireExpr(0, f"alive/{n}")) for n in range(count))
    clients = [HostileClient(target, tally, is_deaf=True) for _ in range(10)]
    for client in clients:
        client.send(
            Interest(InterestMode.CURRENT, n, tokens=True, key=WireExpr(0, "**"))
            for n in range(1, 251)
        )
    target.sleep(target.seconds)
    for client in clients:
        client.close(is_reset=True)
    keep.close()


@attack("wild-interests", "jobs", {"grown_mib": 300}, seconds=20.0)
def wild_interests(target: Target, tally: Tally) -> None:
    """100,000 interests that match everything, then declarations one by one."""
    client, other = HostileClient(target, tally), HostileClient(target, tally)
    count = target.scaled(10_000, 100_000)
    client.send(
        Interest(
            InterestMode.CURRENT_FUTURE,
            n,
            subscribers=True,
            queryables=True,
            tokens=True,
            key=WireExpr(0, f"**/$*{n % 10}$*/**" if n % 2 else "**"),
        )
        for n in range(1, count)
    )
    for n in itertools.count():
        both = [DeclareToken(n, WireExpr(0, f"t/{n}")), DeclareSubscriber(n, WireExpr(0, f"s/{n}"))]
        if target.is_over or not other.declare(both):
            break
        target.sleep(0.05)
    client.close()
    other.close()
