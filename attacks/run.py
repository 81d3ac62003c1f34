"""Attacks a node while two well-behaved clients ping each other through it.

    python -m attacks.run [--quick] [--only NAME ...] [--json FILE] [--mode router]
                          [--clients official]

For every attack, a peer of zenlake (`--mode router`: a router) listens on loopback in a process of
its own. Two clients in processes of their own ping each other through it 200 times a second at
fixed times, the attack runs in a fourth process, and a fifth connects to the node, during the
attack where the figure asks for it and once afterwards. An attack fails if the p99 of the pings
exceeds 50 ms, if a ping is lost, if a client cannot connect within a second, or if a figure of its
own exceeds its limit (`attacks/*.py`). The first and the last row are pings without an attack: what
the machine itself costs. `machine` is the p99 of two processes that ping each other without a node
during the same attack. If the machine is so busy that it explains slow pings, the verdict is
`busy`. An attack that does not pass is tried again once (`--tries`).
`docs/faults.md` lists the line of the reference that each attack covers.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from attacks import ALL
from attacks.measure import Options, Result, measure
from attacks.plan import Attack, Tally, Target
from attacks.report import heading, markdown, row, write_docs

VERDICTS = ("ok", "busy", "FAILED")
MODULES = {"zenlake": "zenlake", "official": "zenoh"}


def nothing(target: Target, tally: Tally) -> None:
    target.sleep(target.seconds)


QUIET = Attack("none", "", "pings without an attack", nothing, seconds=5.0)


def measure_again(attack: Attack, options: Options, tries: int) -> Result:
    """The first result without a failure: a busy machine delays pings, but not every time."""
    result = measure(attack, options)
    for _ in range(tries - 1):
        if not result.failures or attack is QUIET:
            break
        again = measure(attack, options)
        if VERDICTS.index(again.verdict) <= VERDICTS.index(result.verdict):
            result = again
    return result


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [one.name for one in ALL]
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=names, default=names)
    parser.add_argument("--quick", action="store_true", help="a few seconds for each attack")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write a table for docs")
    parser.add_argument("--docs", action="store_true", help="write the table into docs/faults.md")
    parser.add_argument("--clients", choices=MODULES, default="zenlake", help="who pings")
    parser.add_argument("--node", choices=MODULES, default="zenlake", help="who is attacked")
    parser.add_argument("--mode", choices=("peer", "router"), default="peer", help="of that node")
    parser.add_argument("--tries", type=int, default=2, help="a failure counts if it repeats")
    parser.add_argument("--list", action="store_true", help="print the attacks and end")
    arguments = parser.parse_args()
    if arguments.list:
        for one in ALL:
            print(f"{one.name:<24}{one.lines:<18}{one.what}")
        return 0
    options = Options(
        MODULES[arguments.node], MODULES[arguments.clients], arguments.mode, arguments.quick
    )
    from zenlake._compiled import is_compiled

    kind = "compiled" if is_compiled() else "plain"
    print(f"zenlake {kind}, clients: {arguments.clients}")
    print(heading(), flush=True)
    results: list[Result] = []
    chosen = [one for one in ALL if one.name in arguments.only]
    for one in (QUIET, *chosen, QUIET):
        results.append(measure_again(one, options, arguments.tries))
        print(row(results[-1]), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(one) for one in results], indent=1))
    if arguments.markdown:
        arguments.markdown.write_text(markdown(results))
    if arguments.docs:
        counts = "small counts (`--quick`)" if arguments.quick else "complete counts"
        write_docs(
            results, f"Measured on two cores, {kind}, with {counts}; times in ms, RSS in MiB:"
        )
    for verdict in ("busy", "FAILED"):
        names = [one.name for one in results if one.verdict == verdict and one.name != QUIET.name]
        print(f"{len(names)} of {len(chosen)} attacks {verdict}", *names)
    return 1 if names else 0  # those that failed


if __name__ == "__main__":
    sys.exit(main())
