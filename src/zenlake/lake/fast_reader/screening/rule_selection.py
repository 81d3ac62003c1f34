"""Which part of the screening evaluates which rules, from what the rules declare.

No rule is named here. A rule that declares nothing makes connections doubted.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zenlake.columnar import kinds as kind_words
from zenlake.columnar.kinds import kinds_of, network_kinds
from zenlake.rules import RULES, Rule
from zenlake.rules.registry import BY_DECLARATION, FED, UNSEEN, is_declared
from zenlake.rules.screens import Condition, TrackedBy
from zenlake.trace.link import LinkBatch
from zenlake.wire import Declare
from zenlake.wire.definitions import LAYOUTS
from zenlake.wire.message import Message

KINDS: Final = kind_words()
FIRST_NETWORK: Final = len(KINDS) - len(network_kinds())
_MASKS_MAX: Final = 4_096


def _kinds(messages: Iterable[type]) -> set[str]:
    return {kind for one in messages for kind in kinds_of(LAYOUTS[one.__name__])}


@cache
def kinds_of_rule(rule: Rule) -> frozenset[str] | None:
    """The kinds of messages that a rule is about; None if it is not about messages."""
    if not all(issubclass(subject, Message) for subject in rule.subjects):
        return None
    found = _kinds(rule.subjects)
    if Declare in rule.subjects:
        ids = {body: {one.id for one in rules} for body, rules in BY_DECLARATION.items()}
        declared = {
            f"DECLARE/{LAYOUTS[body.__name__].name}" for body in ids if rule.id in ids[body]
        }
        found = {kind for kind in found if not kind.startswith("DECLARE/")} | declared
    return frozenset(found)


def condition_of(rule: Rule) -> str:
    assert isinstance(rule.screen, Condition)
    return rule.screen.when


@cache
def condition_rules() -> tuple[Rule, ...]:
    """Rules that are evaluated where their condition is true."""
    return tuple(rule for rule in RULES.values() if isinstance(rule.screen, Condition))


@cache
def bits() -> dict[str, int]:
    """The bit of each rule whose condition is in the generated kernel."""
    from zenlake.lake.fast_reader.screening._generated import conditions

    return {id: 1 << place for place, id in enumerate(conditions.RULES)}


@cache
def wanted_bits() -> NDArray[np.int64]:
    """By code of a kind: the bits of the rules about it."""
    found = np.zeros(256, np.int64)
    for rule in condition_rules():
        for kind in kinds_of_rule(rule) or ():
            found[KINDS.index(kind)] |= bits().get(rule.id, 0)
    return found


def is_screened(rule: Rule) -> bool:
    """Whether the fast reader finds the messages that may break a rule."""
    return rule.id in bits() if isinstance(rule.screen, Condition) else is_declared(rule)


@cache
def tracked_by(name: str) -> list[Rule]:
    return [rule for rule in RULES.values() if rule.screen == TrackedBy(name)]


@cache
def fed_kinds() -> frozenset[str]:
    """Kinds of network messages that are all fed to the checker."""
    return frozenset(_kinds(one for one in FED if issubclass(one, Message)) & set(network_kinds()))


def rules_of_checker() -> list[str]:
    """Rules that the checker evaluates itself, on handshakes and ends of sessions.

    The rules about noncanonical encodings are among them: they need only the batch. Other
    rules with a `TrackedBy` screen need facts that the checker does not have.
    """
    is_fed = {*FED, LinkBatch}
    return [
        rule.id
        for rule in RULES.values()
        if any(subject in is_fed for subject in rule.subjects)
        and (
            rule.screen is None
            or isinstance(rule.screen, Condition)
            or rule in tracked_by("noncanonical")
        )
    ]


@lru_cache(_MASKS_MAX)
def rules_about(kind: str, mask: int) -> list[Rule]:
    """Rules to evaluate for a fed message for which the conditions in `mask` are true."""
    return [
        rule
        for rule in RULES.values()
        if kind in (kinds_of_rule(rule) or ())
        and (rule.screen is None or _may_be_broken(rule, mask))
    ]


def _may_be_broken(rule: Rule, mask: int) -> bool:
    """A condition that is not in the kernel may be true for any message."""
    has_condition = isinstance(rule.screen, Condition)
    return has_condition and (rule.id not in bits() or bits()[rule.id] & mask != 0)


class About(NamedTuple):
    """Rules to evaluate where some conditions are true."""

    messages: list[Rule]
    batches: list[Rule]
    once: dict[str, list[Rule]]
    """By column: rules that are evaluated once for each value of it."""


@lru_cache(_MASKS_MAX)
def rules_by_mask(mask: int) -> About:
    found = About([], [], {})
    for rule in condition_rules():
        if not bits().get(rule.id, 0) & mask:
            continue
        if kinds_of_rule(rule) is None:
            found.batches.append(rule)
        elif isinstance(rule.screen, Condition) and rule.screen.once:
            found.once.setdefault(rule.screen.once, []).append(rule)
        else:
            found.messages.append(rule)
    return found


@cache
def doubted_kinds() -> frozenset[str] | None:
    """Kinds that unscreened rules are about; None if such a rule is about more than messages."""
    found: set[str] = set()
    for rule in RULES.values():
        if is_screened(rule):
            continue
        subjects = [one for one in rule.subjects if one not in FED + UNSEEN]
        if not all(issubclass(one, Message) for one in subjects):
            return None
        found |= _kinds(subjects)
    return frozenset(found)
