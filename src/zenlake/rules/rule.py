"""Rule: one sentence of the pages or references that a capture can show to be broken.

A rule is a pure function of what was seen and what was known before it; it gives a sentence with
the values, or None. `@rule` puts it into `REGISTERED`, and under the subjects it is asked about:
classes of messages, batches, or something that is still open when a session ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from zenlake.rules.screens import Screen, check_screen

ERROR: Final = "error"
WARNING: Final = "warning"
NOTE: Final = "note"
SEVERITIES: Final = (ERROR, WARNING, NOTE)
"""Broken; broken, and every receiver copes; not as the pages say, but as deployed nodes do."""

Judge = Callable[[Any, Any], str | None]


class Rule:
    """What it is called, how bad it is, what it says, where that is written."""

    __slots__ = ("id", "judge", "needs_whole", "page", "screen", "severity", "subjects", "text")

    def __init__(
        self,
        id: str,
        severity: str,
        text: str,
        page: str,
        subjects: tuple[type, ...],
        needs_whole: bool,
        judge: Judge,
        screen: Screen | None = None,
    ) -> None:
        self.id = id
        self.severity = severity
        self.text = text
        """The sentence, in our words."""
        self.page = page
        """Where it is written."""
        self.subjects = subjects
        self.needs_whole = needs_whole
        """Whether it is asked only where the capture has all that the session said before."""
        self.judge = judge
        self.screen = screen
        """How the fast reader of the lake knows that there is nothing to say (`screens`)."""

    def __repr__(self) -> str:
        return f"Rule({self.id}, {self.severity})"


REGISTERED: Final[dict[str, Rule]] = {}
"""By id; `book` has them all, in order."""
BY_SUBJECT: Final[dict[type, list[Rule]]] = {}
BY_BODY: Final[dict[type, list[Rule]]] = {}
"""Of rules about DECLARE that are about some declarations only: by these."""


def rule(
    id: str,
    severity: str,
    *subjects: type,
    text: str,
    page: str,
    whole: bool = False,
    bodies: tuple[type, ...] = (),
    screen: Screen | None = None,
) -> Callable[[Judge], Judge]:
    """Register the function below as a rule about `subjects`.

    With `bodies`, one of these is a DECLARE, and it is asked about such declarations only.
    """

    def register(judge: Judge) -> Judge:
        assert id not in REGISTERED, id
        check_screen(screen)
        found = REGISTERED[id] = Rule(id, severity, text, page, subjects, whole, judge, screen)
        for subject in subjects:
            BY_SUBJECT.setdefault(subject, []).append(found)
        for body in bodies:
            BY_BODY.setdefault(body, []).append(found)
        return judge

    return register
