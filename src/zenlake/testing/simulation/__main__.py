"""Run seeds: `python -m zenlake.testing.simulation [--routers] --seed N [--trace]`."""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from zenlake.testing.simulation.run import run_seed


def _range(text: str) -> range:
    first, _, last = text.partition("..")
    return range(int(first), int(last))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m zenlake.testing.simulation")
    chosen = parser.add_mutually_exclusive_group(required=True)
    chosen.add_argument("--seed", type=int, help="one seed")
    chosen.add_argument("--seeds", type=_range, metavar="A..B", help="from A up to B, without B")
    parser.add_argument("--routers", action="store_true", help="networks with routers")
    parser.add_argument(
        "--two-homes", action="store_true", help="with --routers: one peer is linked to two of them"
    )
    parser.add_argument("--trace", action="store_true", help="print everything that happens")
    parser.add_argument("--keep-going", action="store_true", help="do not stop at a failure")
    arguments = parser.parse_args()
    if arguments.two_homes and not arguments.routers:
        parser.error("--two-homes needs --routers")
    seeds = arguments.seeds if arguments.seed is None else [arguments.seed]
    counts: Counter[str] = Counter()
    failed = 0
    for seed in seeds:
        outcome = run_seed(
            seed,
            with_routers=arguments.routers,
            two_homes=arguments.two_homes,
            keeps_all=arguments.trace,
        )
        counts.update(outcome.counts)
        counts["promises"] += outcome.promises
        counts["events"] += outcome.happened
        if outcome.failure and arguments.keep_going:
            print(f"seed {seed}: {outcome.failure.strip().splitlines()[-1]}")
        elif outcome.failure or arguments.trace:
            print(outcome.report())
        failed += bool(outcome.failure)
        if failed and not arguments.keep_going:
            return 1
    for what, count in sorted(counts.items()):
        print(f"{count:10} {what}")
    print(f"{len(seeds)} seeds, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
