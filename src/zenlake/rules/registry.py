"""Registry: all rules by topic, in the order in which they apply to a session."""

from __future__ import annotations

from types import ModuleType
from typing import Final

from zenlake import wire
from zenlake.rules import (
    batches,
    channels,
    declarations,
    fragments,
    handshake,
    interests,
    keys,
    link_states,
    liveness,
    multicast,
    queries,
    samples,
    scouting,
)
from zenlake.rules.facts import OpenInterest
from zenlake.rules.rule import BY_BODY, BY_SUBJECT, REGISTERED, Rule
from zenlake.wire import Close, Declare, Hello, Init, Interest, Join, Oam, Open, Scout, TransportOam
from zenlake.wire.message import Declaration

_TOPICS: Final[dict[str, ModuleType]] = {
    "Scouting": scouting,
    "Handshake": handshake,
    "Leases and the end": liveness,
    "Batches": batches,
    "Channels": channels,
    "Fragments": fragments,
    "Keys": keys,
    "Declarations": declarations,
    "Interests": interests,
    "Queries": queries,
    "What samples carry": samples,
    "Link states": link_states,
    "Multicast groups": multicast,
}


def _rules_in(module: ModuleType) -> list[Rule]:
    functions = list(vars(module).values())
    return [rule for rule in REGISTERED.values() if rule.check in functions]


BY_TOPIC: Final = {topic: _rules_in(module) for topic, module in _TOPICS.items()}
RULES: Final = {rule.id: rule for rules in BY_TOPIC.values() for rule in rules}
"""All rules by id, in the order of the reference page."""


def _rules_about(body: type) -> list[Rule]:
    """All rules about a DECLARE whose body is of this class."""
    bound = {rule.id for rules in BY_BODY.values() for rule in rules}
    own = BY_BODY.get(body, [])
    return [rule for rule in BY_SUBJECT[Declare] if rule.id not in bound or rule in own]


BY_DECLARATION: Final[dict[type, list[Rule]]] = {
    body: _rules_about(body)
    for body in vars(wire).values()
    if isinstance(body, type) and issubclass(body, Declaration) and body is not Declaration
}

FED: Final[tuple[type, ...]] = (Init, Open, Close, Declare, Interest, Oam, OpenInterest)
"""Rare subjects: the fast reader of the lake feeds each of them to the checker."""
UNSEEN: Final[tuple[type, ...]] = (Scout, Hello, Join, TransportOam)
"""Messages that do not occur on regular connections."""


def is_declared(rule: Rule) -> bool:
    """Whether the fast reader can apply a rule, because of its screen or its subjects."""
    return rule.screen is not None or all(one in FED + UNSEEN for one in rule.subjects)


__all__ = ["BY_DECLARATION", "BY_SUBJECT", "BY_TOPIC", "FED", "RULES", "UNSEEN", "is_declared"]
