"""Verdicts: the outcome of a query on one link, for the column `queries.verdict`.

The names are public and listed in order of precedence: a query has the first verdict that holds.
The lake's SQL, the report and docs/reference/verdicts.md are made from this list.
"""

from __future__ import annotations

from typing import Final, NamedTuple

GOOD: Final = "good"
BAD: Final = "bad"
ODD: Final = "odd"
NOTE: Final = "note"
SEVERITIES: Final = (GOOD, BAD, ODD, NOTE)
"""Severities in the order of a report; `odd` may be a failure, `note` is none."""


class Verdict(NamedTuple):
    """When a verdict holds, and how a report shows it."""

    meaning: str
    severity: str
    label: str
    """Stands beside a count."""
    finding: str | None = None
    """Completes "3 of 7 queries ..."; None where there is nothing to report."""

    @property
    def failed(self) -> bool:
        return self.severity in (BAD, ODD)


VERDICTS: Final[dict[str, Verdict]] = {
    "reply_after_final": Verdict(
        "a reply or an error came after the final response",
        BAD,
        "reply after final",
        "got replies after the final, which are dropped",
    ),
    "timeout": Verdict(
        "its deadline passed before the final response, or it got only Timeout errors of a hop",
        BAD,
        "timed out",
        "timed out",
    ),
    "answered": Verdict("it got a reply", GOOD, "answered"),
    "error": Verdict("it got only errors", BAD, "only errors", "got only errors"),
    "empty": Verdict(
        "the final response came, and nothing else", ODD, "no reply", "ended without any reply"
    ),
    "interrupted": Verdict(
        "its session ended first", BAD, "interrupted", "were cut off because the session ended"
    ),
    "open": Verdict("the capture ended before its deadline", NOTE, "still open"),
    "no_final": Verdict(
        "a later request used its number, and no final response had come",
        BAD,
        "no final",
        "never got their final, so the querier waited for its timeout",
    ),
}

INSIDE: Final = "inside"
_INSIDE: Final = Verdict(
    "it is empty, and its cause is own_queryable: no link can show the replies",
    NOTE,
    "asked inside the node",
    "are answered inside their own node, if at all: no link shows the replies",
)
OUTCOMES: Final[dict[str, Verdict]] = dict(
    sorted(
        [*VERDICTS.items(), (INSIDE, _INSIDE)],
        key=lambda named: SEVERITIES.index(named[1].severity),
    )
)
"""What a report shows, in its order: the verdicts, and `inside` for empty queries that did not
fail."""
