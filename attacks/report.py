"""Results of attacks as lines of a table, and as the table of `docs/faults.md`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attacks.measure import Result
from attacks.plan import ALWAYS

WIDTHS = "{:<20}{:>11}{:>7}{:>6}{:>8}{:>8}{:>8}{:>8}{:>6}{:>6}{:>6}{:>5}  {}"
HEADINGS = (
    *("attack", "messages", "MiB", "pings", "p50 ms", "p99 ms", "max ms", "machine"),
    *("RSS +", "CPU s", "open", "lost", "verdict"),
)
TIMES = ("p50_ms", "p99_ms", "max_ms", "machine_ms")
MARKDOWN = (
    "| Attack | Lines | What is sent | Messages | MiB | p50 | p99 | max | machine | RSS | CPU s |"
    " Further limits | Verdict |",
    "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
)

PAGE = Path(__file__).parent.parent / "docs" / "faults.md"
BEGIN, END = "<!-- results of make attack -->\n", "<!-- end of results -->\n"


def heading() -> str:
    return WIDTHS.format(*HEADINGS)


def row(result: Result) -> str:
    figures = result.figures
    return WIDTHS.format(
        result.name,
        f"{result.messages:,}",
        f"{result.sent_bytes / (1 << 20):.1f}",
        result.pings,
        *(f"{figures[name]:.1f}" for name in TIMES),
        f"{figures['grown_mib']:.0f}",
        f"{figures['cpu_s']:.1f}",
        f"{figures['open_ms']:.0f}",
        int(figures["lost"]),
        ": ".join(filter(None, (result.verdict, "; ".join(result.failures)))),
    )


def markdown(results: Sequence[Result]) -> str:
    return "\n".join((*MARKDOWN, *map(_markdown_row, results))) + "\n"


def write_docs(results: Sequence[Result], note: str) -> None:
    """Replace the table in `docs/faults.md`; `note` describes how it was measured."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n{note}\n\n{markdown(results)}\n{END}{after}")


def _markdown_row(result: Result) -> str:
    figures = result.figures
    further = ", ".join(
        f"{name} {figures.get(name, 0):.3g} ≤ {limit:g}"
        for name, limit in result.limits.items()
        if name not in ALWAYS
    )
    cells = (
        f"`{result.name}`",
        result.lines,
        result.what.rstrip("."),
        f"{result.messages:,}",
        f"{result.sent_bytes / (1 << 20):.1f}",
        *(f"{figures[name]:.1f}" for name in TIMES),
        f"{figures['grown_mib']:.0f}",
        f"{figures['cpu_s']:.1f}",
        further,
        result.verdict,
    )
    return f"| {' | '.join(cells)} |"
