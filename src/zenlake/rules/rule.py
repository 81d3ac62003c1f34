"""Rule: one requirement of the pages or references whose violation a capture can show.

A rule is a pure function of a subject and of the facts before it. It returns a sentence with the
values if the subject breaks the rule, else None. `@rule` adds it to `REGISTERED` and registers it
for its subjects: classes of messages, batches, or requests and the like that are open at the end
of a session.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from zenlake.rules.screens import Screen, check_screen

ERROR: Final = "error"
WARNING: Final = "warning"
NOTE: Final = "note"
SEVERITIES: Final = (ERROR, WARNING, NOTE)
"""Violations, violations that receivers tolerate, known deviations of deployed nodes."""

Check = Callable[[Any, Any], str | None]


class Rule:
    """Id, severity, text, source, and the function that checks it."""

    __slots__ = (
        "check",
        "id",
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
        check: Check,
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
        """Whether the rule applies only if the capture has all earlier messages of the session."""
        self.check = check
        self.screen = screen
        """How the fast reader of the lake finds messages that may break the rule (`screens`)."""
        self.needs_unredacted = needs_unredacted
        """Whether a recorder that removes messages may cause violations of the rule."""

    def __repr__(self) -> str:
        return f"Rule({self.id}, {self.severity})"


REGISTERED: Final[dict[str, Rule]] = {}
"""The rules by id; `registry` sorts them by topic."""
BY_SUBJECT: Final[dict[type, list[Rule]]] = {}
BY_BODY: Final[dict[type, list[Rule]]] = {}
"""Rules that apply to certain declarations only, by the class of the declaration."""


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
) -> Callable[[Check], Check]:
    """A decorator that registers a function as a rule about `subjects`.

    With `bodies`, one subject is Declare, and the rule applies to these declarations only.
    """

    def register(check: Check) -> Check:
        assert id not in REGISTERED, id
        check_screen(screen)
        found = Rule(id, severity, text, page, subjects, whole, check, screen, unredacted)
        REGISTERED[id] = found
        for subject in subjects:
            BY_SUBJECT.setdefault(subject, []).append(found)
        for body in bodies:
            BY_BODY.setdefault(body, []).append(found)
        return check

    return register
