"""Rule: one sentence of the pages or references that a capture can show to be broken.

A rule is a pure function of a subject and of the facts before it; it returns a sentence with the
values, or None. `@rule` adds it to `REGISTERED` and registers it for its subjects: classes of
messages, batches, or things that are still open when a session ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from zenlake.rules.screens import Screen, check_screen

ERROR: Final = "error"
WARNING: Final = "warning"
NOTE: Final = "note"
SEVERITIES: Final = (ERROR, WARNING, NOTE)
"""A violation; a violation that receivers tolerate; a known deviation of deployed nodes."""

Judge = Callable[[Any, Any], str | None]


class Rule:
    """Id, severity, text, source, and the function that checks it."""

    __slots__ = (
        "id",
        "judge",
        "needs_unredacted",
        "needs_whole",
        "page",
        "screen",
        "severity",
        "subjects",
        "text",
    )

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
        needs_unredacted: bool = False,
    ) -> None:
        self.id = id
        self.severity = severity
        self.text = text
        """The requirement, paraphrased."""
        self.page = page
        """The source of the requirement."""
        self.subjects = subjects
        self.needs_whole = needs_whole
        """Whether it applies only if the capture has all earlier messages of the session."""
        self.judge = judge
        self.screen = screen
        """How the fast reader of the lake knows that it is not broken (`screens`)."""
        self.needs_unredacted = needs_unredacted
        """Whether a recorder that removes messages may be what breaks it."""

    def __repr__(self) -> str:
        return f"Rule({self.id}, {self.severity})"


REGISTERED: Final[dict[str, Rule]] = {}
"""The rules by id; `registry` has them all, in order."""
BY_SUBJECT: Final[dict[type, list[Rule]]] = {}
BY_BODY: Final[dict[type, list[Rule]]] = {}
"""Rules about certain declarations only, by declaration."""


def rule(
    id: str,
    severity: str,
    *subjects: type,
    text: str,
    page: str,
    whole: bool = False,
    bodies: tuple[type, ...] = (),
    screen: Screen | None = None,
    unredacted: bool = False,
) -> Callable[[Judge], Judge]:
    """Register the function below as a rule about `subjects`.

    With `bodies`, one subject is Declare, and the rule applies to such declarations only.
    """

    def register(judge: Judge) -> Judge:
        assert id not in REGISTERED, id
        check_screen(screen)
        found = Rule(id, severity, text, page, subjects, whole, judge, screen, unredacted)
        REGISTERED[id] = found
        for subject in subjects:
            BY_SUBJECT.setdefault(subject, []).append(found)
        for body in bodies:
            BY_BODY.setdefault(body, []).append(found)
        return judge

    return register
