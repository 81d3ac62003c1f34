"""The full test of the rules: captures with one fault each, and how many faults the checker finds.

python -m tests.rules.gate [--captures 1000] [--seed 0] [--show]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from tests.rules.captures import Made, broken, clean, findings, seeds
from zenlake.rules import ERROR, Finding


class Score(NamedTuple):
    captures: int
    right: int
    """Captures in which the rule was found at the packet of the fault."""
    other_errors: int
    """Findings of severity error that are not the fault."""
    other: int
    """Findings of any severity that are neither the fault nor a necessary consequence of it."""
    missed: list[str]


def is_right(made: Made, found: list[Finding]) -> bool:
    return any(one.rule.id == made.fault.rule and one.packet == made.packet for one in found)


def others(made: Made, found: list[Finding]) -> list[Finding]:
    fault = made.fault
    return [
        one
        for one in found
        if (one.rule.id, one.packet) != (fault.rule, made.packet) and one.rule.id not in fault.also
    ]


def run(captures: int, start: int, folder: Path) -> Score:
    right, other_errors, other, missed = 0, 0, 0, []
    for seed, rule in seeds(captures, start):
        made = broken(folder / "broken.pcapng", seed, rule)
        found = findings(made.path)
        wrong = others(made, found)
        if is_right(made, found):
            right += 1
        if not is_right(made, found) or wrong:
            missed.append(f"seed {seed}, {rule} in packet {made.packet}: {found}")
        other += len(wrong)
        other_errors += sum(one.rule.severity == ERROR for one in wrong)
    return Score(captures, right, other_errors, other, missed)


def main() -> None:
    parser = argparse.ArgumentParser(description="Rules against captures with one fault each.")
    parser.add_argument("--captures", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="what was not found as it should")
    arguments = parser.parse_args()
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        score = run(arguments.captures, arguments.seed, Path(folder))
        falsely: Counter[str] = Counter()
        count = max(arguments.captures // 5, 1)
        for seed in range(arguments.seed, arguments.seed + count):
            path = clean(Path(folder) / "clean.pcapng", seed)
            falsely.update(finding.rule.id for finding in findings(path))
    rules = len({rule for _, rule in seeds(arguments.captures, arguments.seed)})
    print(f"{score.captures:,} captures with one fault each, of {rules} rules")
    print(f"recall: {score.right / score.captures:.2%} have the rule at the packet of the fault")
    reported = score.right + score.other
    print(f"precision: {score.right / reported:.2%} of {reported:,} findings are the fault")
    print(f"errors that are not the fault: {score.other_errors}")
    print(f"clean captures: {count:,}, findings in them: {sum(falsely.values())} {dict(falsely)}")
    print(f"{time.perf_counter() - begun:.0f} s")
    if arguments.show:
        print(*score.missed, sep="\n")


if __name__ == "__main__":
    main()
