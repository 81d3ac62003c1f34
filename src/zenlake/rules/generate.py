"""Writes docs/reference/rules.md; with `--check` it only checks that the file is current."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from zenlake.generated_files import write_or_check
from zenlake.rules.registry import BY_TOPIC, RULES
from zenlake.rules.rule import SEVERITIES
from zenlake.semantics.citations import linked

TARGET: Final = Path(__file__).parents[3] / "docs" / "reference" / "rules.md"


def page() -> str:
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    counts = Counter(rule.severity for rule in RULES.values())
    severities = ", ".join(f"{counts[severity]} of severity {severity}" for severity in SEVERITIES)
    yield "<!-- Printed from zenlake.rules by `make generate`: edit that instead. -->"
    yield ""
    yield "# Rules"
    yield ""
    yield f"`zenlake check` and the table `violations` know {len(RULES)} rules, {severities}."
    yield ""
    yield "- **error**: the spec pages or references forbid it."
    yield "- **warning**: the same, but every receiver copes with it, or no node may be at fault."
    yield "- **note**: not as the spec pages say, but as deployed nodes are known to do. It is"
    yield "  reported once for each side of a session."
    yield ""
    yield "`whole` rules depend on earlier messages. They are applied only where the capture has a"
    yield "session from its INIT on, without a gap, on one TCP connection or WebSocket. SN-n are"
    yield "rows of the [spec notes](../spec-notes.md), which also list the spec pages."
    yield ""
    yield "`unredacted` rules are not applied to recordings with [rules about keys]"
    yield "(../recording.md#leave-keys-or-payloads-out), because the recorder may break them."
    for topic, rules in BY_TOPIC.items():
        yield ""
        yield f"## {topic}"
        yield ""
        yield "| rule | severity | says | written in |"
        yield "|---|---|---|---|"
        for rule in rules:
            whole = ", whole" * rule.needs_whole + ", unredacted" * rule.needs_unredacted
            text = rule.text.replace("|", "\\|")
            yield f"| `{rule.id}` | {rule.severity}{whole} | {text} | {linked(rule.page, '../')} |"


def main() -> int:
    return write_or_check({TARGET: page()}, "the rules")


if __name__ == "__main__":
    sys.exit(main())
