"""Writes docs/reference/verdicts.md; with `--check` it only says whether it is fresh."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from zenlake.generated_files import write_or_check
from zenlake.semantics.causes import CAUSES, QUERY_CAUSES, SESSION_CAUSES
from zenlake.semantics.verdicts import VERDICTS

TARGET = Path(__file__).parents[3] / "docs" / "reference" / "verdicts.md"


def page() -> str:
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "<!-- Printed from zenlake.semantics by `make generate`: edit that instead. -->"
    yield ""
    yield "# Verdicts and causes"
    yield ""
    yield "A **verdict** is what one link shows of a query: `queries.verdict`, and what a report"
    yield "counts. A **cause** explains a failure from all links of a capture: `zenlake why` names"
    yield "one for every query, publication, token and session, and some tables have one too."
    yield ""
    yield "## Verdicts"
    yield ""
    yield "A query has the first verdict of this list that holds. Every hop of a query has its own."
    yield ""
    yield "| verdict | failed | holds if |"
    yield "|---|---|---|"
    for name, verdict in VERDICTS.items():
        yield f"| `{name}` | {_yes(verdict.failed)} | {verdict.meaning} |"
    yield ""
    yield "## Causes"
    yield ""
    yield "The worst cause comes first. Causes with `no` explain something that did not fail."
    yield ""
    yield "| cause | failed | meaning | column |"
    yield "|---|---|---|---|"
    for name, cause in CAUSES.items():
        yield f"| `{name}` | {_yes(cause.failed)} | {cause.meaning} | {_columns(name)} |"


def _yes(is_true: bool) -> str:
    return "yes" if is_true else "no"


def _columns(cause: str) -> str:
    columns = {"queries": QUERY_CAUSES, "sessions": SESSION_CAUSES}
    return ", ".join(f"`{table}.cause`" for table, causes in columns.items() if cause in causes)


def main() -> int:
    return write_or_check({TARGET: page()}, "the verdicts and causes")


if __name__ == "__main__":
    sys.exit(main())
