"""Time of lookups in a `KeyTree` of many expressions.

    python benchmarks/bench_keyexpr_tree.py [number of expressions]

The expressions resemble those of a fleet of robots: mostly literal keys, some with `*`, `**`, `$*`
and verbatim chunks. Prints one line per figure; run it alone on the machine.
"""

from __future__ import annotations

import random
import resource
import sys
import time
from collections.abc import Callable

from zenlake.keyexpr.tree import KeyTree

SEED = 20_240_601
KEYS = 20_000
KINDS = ("temp", "pose", "imu", "status", "cmd", "log", "battery", "scan")


def literal_key(rng: random.Random) -> str:
    return f"site-{rng.randrange(50)}/robot-{rng.randrange(2000)}/{rng.choice(KINDS)}/value"


def mixed_expression(rng: random.Random) -> str:
    """70 % literal, 10 % each with `*`, with `**`, and with `$*` or `@`."""
    site, robot, kind, value = literal_key(rng).split("/")
    shape = rng.random()
    if shape < 0.7:
        return f"{site}/{robot}/{kind}/{rng.randrange(100)}"
    if shape < 0.8:
        return rng.choice((f"{site}/{robot}/*/{value}", f"*/{robot}/{kind}/{value}"))
    if shape < 0.9:
        return rng.choice((f"{site}/{robot}/**", f"**/{robot}/{kind}/**", f"{site}/**/{robot}"))
    if shape < 0.97:
        return f"{site}/{robot}$*/{kind}/{rng.randrange(100)}"
    return f"@admin/{robot}/{kind}/**"


def pattern_expression(number: int) -> str:
    """A `$*` chunk below one single node, each with a different prefix."""
    return f"sensors/dev-{number}-$*/value"


def timed_us(ask: Callable[[str], list[str]], questions: list[str]) -> list[float]:
    """The time of each lookup, ascending."""
    times = []
    for question in questions:
        start = time.perf_counter_ns()
        ask(question)
        times.append((time.perf_counter_ns() - start) / 1_000)
    return sorted(times)


def report(name: str, times: list[float]) -> None:
    median, late = times[len(times) // 2], times[len(times) * 99 // 100]
    mean = sum(times) / len(times)
    print(f"{name:<34} mean {mean:9.2f} us  median {median:9.2f} us  p99 {late:9.2f} us")


def fill(expressions: list[str]) -> KeyTree[str]:
    tree: KeyTree[str] = KeyTree()
    start = time.perf_counter()
    for expression in expressions:
        tree.insert(expression, expression)
    print(f"{'insert ' + str(len(tree)):<34} {time.perf_counter() - start:.2f} s")
    return tree


def main(count: int) -> None:
    rng = random.Random(SEED)
    expressions: dict[str, None] = {}
    while len(expressions) < count:
        expressions[mixed_expression(rng)] = None
    tree = fill(list(expressions))
    keys = [literal_key(rng) for _ in range(KEYS)]
    hits = sum(len(tree.match_key(key)) for key in keys) / KEYS
    report(f"literal key, {hits:.1f} hits", timed_us(tree.match_key, keys))
    wild = [f"{key.rsplit('/', 1)[0]}/*" for key in keys[:2000]]
    report("one `*`", timed_us(tree.intersecting, wild))
    report("`**` over everything", timed_us(tree.intersecting, ["**/pose/**"] * 5))

    patterns = fill([pattern_expression(number) for number in range(count)])
    keys = [f"sensors/dev-{rng.randrange(count)}-x/value" for _ in range(KEYS)]
    report("literal key, all `$*` in one node", timed_us(patterns.match_key, keys))

    start = time.perf_counter()
    for expression in expressions:
        tree.remove(expression)
    print(f"{'remove all, left ' + str(len(tree)):<34} {time.perf_counter() - start:.2f} s")
    memory_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{'memory, highest':<34} {memory_mib} MiB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
