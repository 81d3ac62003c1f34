"""Writes docs/reference/verdicts.md, and the headings of docs that citations name.

With `--check` it only reports whether they are up to date.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from zenlake.generated_files import write_or_check
from zenlake.semantics.causes import CAUSES, QUERY_CAUSES, SESSION_CAUSES
from zenlake.semantics.citations import linked
from zenlake.semantics.verdicts import VERDICTS

_ROOT: Final = Path(__file__).parents[3]
_HEADINGS: Final = "src/zenlake/semantics/_generated/headings.py"
_SECTION: Final = re.compile(r"^#{2,3} ((\d+[a-z]?(?:\.\d+)*)\b.*)$", re.MULTILINE)
_HEADING_OR_NOTE: Final = re.compile(
    r"^## (?P<heading>.+)$|^\| (?P<note>SN-\d+) \| \*\*(?P<title>.+?)\.?\*\*", re.MULTILINE
)


def files(root: Path = _ROOT) -> dict[Path, str]:
    """The generated files of a checkout, with what they should be."""
    return {
        root / "docs" / "reference" / "verdicts.md": "\n".join(_verdicts()) + "\n",
        root / _HEADINGS: "\n".join(_headings(root / "docs")) + "\n",
    }


def _verdicts() -> Iterator[str]:
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
    yield "| cause | failed | meaning | rests on | column |"
    yield "|---|---|---|---|---|"
    for name, cause in CAUSES.items():
        page = linked(cause.page, "../")
        yield f"| `{name}` | {_yes(cause.failed)} | {cause.meaning} | {page} | {_columns(name)} |"


def _headings(docs: Path) -> Iterator[str]:
    yield '"""Headings of docs/spec and rows of docs/spec-notes.md, written by `make generate`."""'
    yield ""
    yield "SECTIONS: dict[str, dict[str, str]] = {"
    for page in ("wire", "behaviour", "limits"):
        yield f"    {page!r}: {{"
        text = (docs / "spec" / f"{page}.md").read_text("utf-8")
        for heading, number in _SECTION.findall(text):
            yield f"        {number!r}: {heading!r},"
        yield "    },"
    yield "}"
    yield '"""By page and number."""'
    yield ""
    yield "NOTES: dict[str, tuple[str, str]] = {"
    heading = ""
    for match in _HEADING_OR_NOTE.finditer((docs / "spec-notes.md").read_text("utf-8")):
        if match["note"]:
            yield f"    {match['note']!r}: ({heading!r}, {match['title']!r}),"
        heading = match["heading"] or heading
    yield "}"
    yield '"""By row: the heading above it, and its title."""'


def _yes(is_true: bool) -> str:
    return "yes" if is_true else "no"


def _columns(cause: str) -> str:
    columns = {"queries": QUERY_CAUSES, "sessions": SESSION_CAUSES}
    return ", ".join(f"`{table}.cause`" for table, causes in columns.items() if cause in causes)


def main() -> int:
    return write_or_check(files(), "the verdicts, causes and documents")


if __name__ == "__main__":
    sys.exit(main())
