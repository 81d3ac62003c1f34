"""Noise on the port of Zenoh (P09): `python fuzz/noise.py --packets 10000000`.

Connections of other protocols, generated in memory. Each is a trace of its own, so that a false
session does not hide the next one. Prints how many were recognized as Zenoh: none should be.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.trace.event_reader import EventReader
from tests.trace.noise import PAYLOADS, conversation

PACKETS = (5, 20, 100, 400)
"""Packets of a connection; one of these is chosen at random."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", help=f"of {', '.join(PAYLOADS)} (default: all)")
    parser.add_argument("--packets", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    kinds = args.kinds or list(PAYLOADS)
    fed: Counter[str] = Counter()
    false: Counter[str] = Counter()
    spent: Counter[str] = Counter()
    seed = args.seed
    while fed.total() < args.packets:
        kind = kinds[seed % len(kinds)]
        start = time.perf_counter_ns()
        fed[kind] += converse(kind, seed, false)
        spent[kind] += time.perf_counter_ns() - start
        seed += 1
    for kind in kinds:
        rate = fed[kind] / max(spent[kind], 1) * 1e9
        print(f"{kind:10} {fed[kind]:>12,} packets {rate:>9,.0f}/s {false[kind]:>6} false")
    print(f"{'all':10} {fed.total():>12,} packets, seeds {args.seed} to {seed - 1}", end="")
    print(f", {false.total()} false sessions")
    return 0 if not false.total() else 1


def converse(kind: str, seed: int, false: Counter[str]) -> int:
    """Trace one connection; returns the number of its packets."""
    chance = random.Random(f"{kind} {seed}")
    count = chance.choice(PACKETS)
    reader = EventReader()
    for content in conversation(chance, PAYLOADS[kind], 1, count):
        reader.feed(content)
    reader.finish()
    if reader.sessions or reader.messages:
        false[kind] += 1
        print(f"{kind}, seed {seed}: {reader.sessions} {reader.messages[:2]}", flush=True)
    return count


if __name__ == "__main__":
    sys.exit(main())
