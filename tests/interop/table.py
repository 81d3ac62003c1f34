"""Tables of what a run of `make interop` found: `python -m tests.interop.table RESULTS.xml`.

Reads the JUnit file that pytest writes (`make interop RESULTS=FILE`) and prints the mixed networks
and the totals by release; with `--docs`, the networks go into docs/router.md.
"""

from __future__ import annotations

import argparse
import re
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tests.paths import DOCS

_PAGE = DOCS / "router.md"
_BEGIN, _END = "<!-- mixed networks: begin -->", "<!-- mixed networks: end -->"
_RELEASE = re.compile(r"\b1\.\d+\.\d+\b")


class Case(NamedTuple):
    module: str
    name: str
    parameters: str
    passed: bool


class Tally:
    """The number of passed tests, and of all tests."""

    def __init__(self) -> None:
        self.passed = 0
        self.total = 0

    def add(self, case: Case) -> None:
        self.passed += case.passed
        self.total += 1

    def __str__(self) -> str:
        return f"{self.passed}/{self.total}" if self.total else ""


def read(path: Path) -> list[Case]:
    found = []
    for one in ElementTree.parse(path).getroot().iter("testcase"):
        if one.find("skipped") is not None:
            continue
        name, _, parameters = one.get("name", "").partition("[")
        is_passed = one.find("failure") is None and one.find("error") is None
        module = one.get("classname", "").rpartition(".")[2]
        found.append(Case(module, name, parameters.rstrip("]"), is_passed))
    return found


def networks(cases: Iterable[Case]) -> str:
    """By shape and mix of routers, a column for each release that ours are mixed with."""
    tallies: dict[tuple[str, str], dict[str, Tally]] = defaultdict(lambda: defaultdict(Tally))
    releases: set[str] = set()
    for case in cases:
        if case.module not in ("test_mixed_networks", "test_router_networks"):
            continue
        shape, _, rest = case.parameters.partition("-")
        kinds = rest.partition("-")[0].split("+")
        release = " and ".join(sorted(set(kinds) - {"ours"}, key=order)) or "none"
        if " and " in release:
            release = "several"
        releases.add(release)
        mix = "+".join("ours" if kind == "ours" else "real" for kind in kinds)
        tallies[shape, mix][release].add(case)
    columns = sorted(releases, key=order)
    lines = [
        "| network | routers | " + " | ".join(columns) + " |",
        "|---" * (len(columns) + 2) + "|",
    ]
    for (shape, mix), by_release in sorted(tallies.items()):
        cells = " | ".join(str(by_release[release]) for release in columns)
        lines.append(f"| {shape} | {mix.replace('+', ', ')} | {cells} |")
    return "\n".join(lines)


def totals(cases: Iterable[Case]) -> str:
    """By the releases in the name of a test; without one, by the installed release."""
    tallies: dict[str, Tally] = defaultdict(Tally)
    for case in cases:
        releases = sorted(set(_RELEASE.findall(case.parameters)), key=order)
        tallies[", ".join(releases) or "not named"].add(case)
        tallies["all"].add(case)
    lines = ["| release | passed |", "|---|---|"]
    lines += [f"| {name} | {tally} |" for name, tally in sorted(tallies.items())]
    return "\n".join(lines)


def order(release: str) -> tuple[int, ...]:
    """The sort key of a release: numbers come first."""
    numbers = re.findall(r"\d+", release)
    return tuple(map(int, numbers)) if numbers else (99, len(release))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument("--docs", action="store_true")
    options = parser.parse_args()
    # Of a test that was repeated, the last result counts.
    last = {case[:3]: case for path in options.results for case in read(path)}
    cases = list(last.values())
    print(networks(cases), totals(cases), sep="\n\n")
    if options.docs:
        before, _, rest = _PAGE.read_text().partition(_BEGIN)
        after = rest.partition(_END)[2]
        _PAGE.write_text(f"{before}{_BEGIN}\n{networks(cases)}\n{_END}{after}")


if __name__ == "__main__":
    main()
