"""Writes docs/reference/rules.md; with `--check` it only says whether it is fresh."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from zenlake.generated_files import write_or_check
from zenlake.rules.book import BY_TOPIC, RULES
from zenlake.rules.rule import SEVERITIES

TARGET = Path(__file__).parents[3] / "docs" / "reference" / "rules.md"


def page() -> str:
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    counts = Counter(rule.severity for rule in RULES.values())
    told = ", ".join(f"{counts[severity]} of severity {severity}" for severity in SEVERITIES)
    yield "<!-- Printed from zenlake.rules by `make generate`: edit that instead. -->"
    yield ""
    yield "# Rules"
    yield ""
    yield f"What `zenlake check` and the table `violations` know: {len(RULES)} rules, {told}."
    yield ""
    yield "- **error**: the pages or references forbid it."
    yield "- **warning**: they do too, and every receiver copes with it; or nobody may be to blame."
    yield "- **note**: not as the pages say, but as deployed nodes are known to do. Each is told"
    yield "  once for each side of a session."
    yield ""
    yield "`whole` rules need to know what was said before. They are asked only where the capture"
    yield "has a session from its INIT on, without a gap, on one TCP connection or WebSocket. SN-n"
    yield "are rows of [spec-notes.md](../spec-notes.md), which tells the pages and references too."
    for topic, rules in BY_TOPIC.items():
        yield ""
        yield f"## {topic}"
        yield ""
        yield "| rule | severity | says | written in |"
        yield "|---|---|---|---|"
        for rule in rules:
            whole = ", whole" if rule.needs_whole else ""
            text = rule.text.replace("|", "\\|")
            yield f"| `{rule.id}` | {rule.severity}{whole} | {text} | {rule.page} |"


def main() -> int:
    return write_or_check({TARGET: page()}, "the rules")


if __name__ == "__main__":
    sys.exit(main())
