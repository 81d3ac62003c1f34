"""Screens: how the fast reader of the lake selects the messages that may break a rule.

The fast reader has columns, not messages. Each rule declares with `screen=` where it may be broken.
Only for those messages does the fast reader create objects and evaluate the rule:

    Condition(when)     on columns, true wherever the rule may be broken
    TrackedBy(part)     the rule depends on earlier messages; one of `TRACKERS` keeps that state
    Irregular(because)  a connection in which it is broken is irregular, for one of `REASONS`

A rule about subjects that the fast reader feeds to the checker (`registry.FED`) needs no screen.
Any other rule without a screen causes every connection with such messages to be read again message
by message, which is slow but correct.

`when` is a Python expression of numbers, names, `and`, `or`, `not`, comparisons and arithmetic.
Names are columns of `zenlake.columnar` (`qos`, `node_id`), and those that
`lake/fast_reader/screening/vocabulary.py` lists (`has.qos`, `agreed.qos`, `key.is_bad`). It may be
true where the rule is not broken, but must be true wherever it is.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Condition(NamedTuple):
    """The rule is evaluated for the messages for which `when` is true."""

    when: str
    once: str = ""
    """A column: all messages with the same value in it have the same result as the first one."""


class TrackedBy(NamedTuple):
    """A part of screening keeps the state, and evaluates the rule or rejects the connection."""

    part: str


class Irregular(NamedTuple):
    """The survey classifies every connection in which the rule is broken as irregular."""

    because: str


Screen = Condition | TrackedBy | Irregular

TRACKERS: Final = ("fragments", "noncanonical", "requests", "silences", "sources")
REASONS: Final = {
    "EMPTY_BATCH": "a batch is empty",
    "FRAGMENTS": "a message in fragments is not complete",
    "HANDSHAKE": "the handshake is not complete and in order",
    "MALFORMED": "a batch cannot be decoded to its end",
    "MESSAGE_OUT_OF_PLACE": "a message came where it should not",
    "NOT_TCP": "only TCP connections are regular",
    "SEQUENCE": "sequence numbers do not follow each other",
    "TERMS": "compression or several links were agreed on",
}
"""The reasons of `lake/fast_reader/assemble/reasons.py`, and NOT_TCP."""

KEPT_BY: Final = {
    "after_fragments": "fragments",
    "fragments": "fragments",
    "gave_up": "fragments",
    "requests": "requests",
    "ended_requests": "requests",
    "timed_out": "requests",
    "forgets": "requests",
    "responses": "requests",
    "last_batch_ns": "silences",
    "source_sns": "sources",
    "deviations": "noncanonical",
}
"""Facts that change with frequent messages, and the part of screening that keeps each of them: the
checker of the fast reader does not have them. Rules that read other facts need no tracker."""


def check_screen(screen: Screen | None) -> None:
    """Checks the names of trackers and reasons; the generator checks conditions."""
    if isinstance(screen, TrackedBy):
        assert screen.part in TRACKERS, screen
    elif isinstance(screen, Irregular):
        assert screen.because in REASONS, screen
