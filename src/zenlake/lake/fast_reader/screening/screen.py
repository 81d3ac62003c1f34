"""Screen: violations of regular connections, without making every message.

Handshakes, declarations, interests and link states are few: all are fed to the checker. For other
messages a pass over the columns evaluates the conditions that rules declare, and only the messages
for which one is true are made. A pair is `doubted` if a rule declares nothing or needs facts that
are not kept here: then the exact reader reads it again for its violations.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from functools import partial
from operator import itemgetter
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zenlake.lake.exact_reader.violations import add_findings
from zenlake.lake.fast_reader import Survey
from zenlake.lake.fast_reader.columns.decoded import Decoded
from zenlake.lake.fast_reader.columns.keys import KeyColumn
from zenlake.lake.fast_reader.screening import rule_selection
from zenlake.lake.fast_reader.screening.agreed_terms import AgreedTerms
from zenlake.lake.fast_reader.screening.facts import facts_of
from zenlake.lake.fast_reader.screening.fragments import FragmentScreen
from zenlake.lake.fast_reader.screening.messages import Messages, lanes
from zenlake.lake.fast_reader.screening.requests import RequestScreen
from zenlake.lake.fast_reader.screening.screen_kernel import (
    FIRST_MESSAGE,
    NONCANONICAL,
    screen_rows,
)
from zenlake.lake.fast_reader.screening.sources import SourceScreen
from zenlake.rules import NOTE, Checker, Finding, Rule
from zenlake.rules.checker import note_first_message
from zenlake.rules.facts import SideFacts
from zenlake.rules.rare import set_carriers
from zenlake.rules.samples import stream_of
from zenlake.trace.events import MessageSeen, TraceEvent
from zenlake.trace.link import Link, LinkBatch, LinkClosed
from zenlake.trace.rows.rows import Rows
from zenlake.wire import Frame, Push

_RULE_BITS: Final = NONCANONICAL - 1
_NO_MESSAGE: Final = Frame(0, [])
"""Stands for a message that is not evaluated."""

Step = tuple[float, Callable[[], None]]
"""Place among the rows, and what to do there."""


class _Waiting(NamedTuple):
    """Messages for the checker: rows, events, and the rules to evaluate for each."""

    rows: list[int]
    events: list[MessageSeen]
    rules: list[list[Rule]]


class Screen:
    """Collects violations; `doubted` marks the pairs that the exact reader must check."""

    def __init__(self, survey: Survey, rows: Rows, links: dict[int, Link]) -> None:
        pairs = len(survey)
        self.doubted = np.zeros(pairs, np.bool_)
        self._rows = rows
        self._links = links
        self._pairs: dict[Link, int] = {}
        self._checker = Checker(rule_selection.rules_of_checker(), lambda: survey.redacted > 0)
        self._terms = AgreedTerms(pairs)
        self._requests = RequestScreen()
        self._sources = SourceScreen()
        self._fragments = FragmentScreen()
        self._messages = Messages(links)
        self._steps: list[Step] = []
        self._waiting = _Waiting([], [], [])
        self._held: dict[int, list[Finding]] = {}
        """Findings of open pairs, which may still become doubted."""
        self._known: set[tuple[int, int, int]] = set()
        """Values that rules accepted, by the rules, the direction and the value."""

    # --- events of the walker ----------------------------------------------------------------

    def add_handshake(
        self, row: int, pair: int, batch: LinkBatch, events: list[TraceEvent]
    ) -> None:
        """A batch of INIT, OPEN or CLOSE; `row` is the place of its first message."""
        session = batch.link.session
        if session is not None:
            self._terms.add_handshake(pair, batch.direction, session, batch.messages)
        self._pairs[batch.link] = pair
        self._add_step(row, self._checker.feed, batch, events)

    def _add_step(self, place: float, act: Callable[..., None], *arguments: Any) -> None:
        self._steps.append((place, partial(act, *arguments)))

    def add_close(
        self, rows: Decoded | None, pair: int, item: LinkClosed, events: list[TraceEvent]
    ) -> None:
        place = 0 if rows is None else int(np.searchsorted(rows.packet, item.packet, "right"))
        self._add_step(place - 0.5, self._close, pair, item, events)

    def _close(self, pair: int, item: LinkClosed, events: list[TraceEvent]) -> None:
        self._checker.feed(item, events)
        self._hold()
        self.doubted[pair] |= self._requests.left_open(pair, item.time_ns)
        self.doubted[pair] |= self._sources.is_crowded(pair)
        self._sources.forget(pair)
        held = self._held.pop(pair, [])
        if not self.doubted[pair]:
            add_findings(self._rows, held)

    # --- columns -----------------------------------------------------------------------------

    def check_rows(self, rows: Decoded, keys: KeyColumn) -> None:
        """Screens rows in order, after their handshakes."""
        masks = self._masks(rows, keys)
        is_fed = rows.is_kind(*sorted(rule_selection.fed_kinds()))
        self._feed_messages(rows, keys, np.flatnonzero(is_fed), masks)
        self._apply_conditions(
            rows, keys, np.flatnonzero((masks & _RULE_BITS != 0) & ~is_fed), masks
        )
        for row in np.flatnonzero((masks & FIRST_MESSAGE != 0) & ~is_fed).tolist():
            self._add_step(row - 0.25, self._note_first_message, rows, row)
        self._apply_to_noncanonical(rows, rows.unit[masks & NONCANONICAL != 0])
        self._track(rows, keys)
        self._doubt_undeclared(rows)
        self.finish()

    def _masks(self, rows: Decoded, keys: KeyColumn) -> NDArray[np.int64]:
        masks = np.zeros(len(rows), np.int64)
        last_sent_ns = np.zeros((len(rows.units), 2), np.int64)
        buf, table, room = rows.columns.handles()
        facts = facts_of(rows, keys, self._terms)
        screen_rows(buf, table, room, len(rows), facts, masks, last_sent_ns)
        for unit in np.flatnonzero(last_sent_ns.any(axis=1)).tolist():
            first = int(np.searchsorted(rows.unit, unit))
            own, other = (last_sent_ns[unit] - 1).tolist()
            self._add_step(first - 0.45, self._check_silence, rows, unit, own, other)
        return masks

    def finish(self) -> None:
        """Runs the steps in order, and feeds waiting messages to the checker between them."""
        self._steps.sort(key=itemgetter(0))
        rows, events, rules = self._waiting
        check_message, done = self._checker.check_message, 0
        for place, act in [*self._steps, (math.inf, None)]:
            end = bisect_left(rows, place, done)
            for at in range(done, end):
                check_message(events[at], rules[at])
            done = end
            if act is not None:
                act()
        self._steps.clear()
        self._waiting = _Waiting([], [], [])
        self._hold()

    def _hold(self) -> None:
        for finding in self._checker.pop_findings():
            pair = self._pairs[finding.place.link]
            if not self.doubted[pair]:
                self._held.setdefault(pair, []).append(finding)

    # --- messages that are all fed to the checker --------------------------------------------

    def _feed_messages(
        self,
        rows: Decoded,
        keys: KeyColumn,
        chosen: NDArray[np.int64],
        masks: NDArray[np.int64],
    ) -> None:
        events, noncanonical = self._messages.events(rows, keys, chosen)
        found = masks[chosen] & _RULE_BITS
        places = np.flatnonzero(found)
        set_carriers([events[place] for place in places.tolist()], lanes(rows, chosen[places]))
        kinds = (event.kind for event in events)
        rules = [
            rule_selection.rules_about(*one) for one in zip(kinds, found.tolist(), strict=True)
        ]
        self._waiting = _Waiting(chosen.tolist(), events, rules)
        units = rows.unit[chosen[noncanonical]]
        # A reassembled message does not show the bytes of its fragments.
        self._apply_to_noncanonical(rows, units[rows.is_batch[units]])

    # --- messages and batches for which a condition is true ----------------------------------

    def _apply_conditions(
        self,
        rows: Decoded,
        keys: KeyColumn,
        chosen: NDArray[np.int64],
        masks: NDArray[np.int64],
    ) -> None:
        for row, mask in zip(chosen.tolist(), (masks[chosen] & _RULE_BITS).tolist(), strict=True):
            about = rule_selection.rules_by_mask(mask)
            if about.messages:
                self._add_step(row, self._apply, rows, keys, row, about.messages)
            if about.batches:
                unit = int(rows.unit[row])
                self._add_step(row - 0.4, self._apply_to_batch, rows, unit, about.batches)
            for column, rules in about.once.items():
                value = int(rows.columns[column][row])
                name = mask, int(rows.owner[row]), value
                if name not in self._known:
                    self._known.add(name)
                    self._add_step(row, self._apply_once, rows, keys, row, rules)

    def _apply(self, rows: Decoded, keys: KeyColumn, row: int, rules: list[Rule]) -> None:
        pair = int(rows.pair[row])
        if self.doubted[pair]:
            return
        broken = self._side(rows, row).broken
        rules = [rule for rule in rules if rule.severity != NOTE or rule.id not in broken]
        if rules:
            self._checker.apply_to_message(self._messages.event(rows, keys, row), rules)

    def _apply_once(self, rows: Decoded, keys: KeyColumn, row: int, rules: list[Rule]) -> None:
        """A broken rule makes the pair doubted: later messages with this value may break it too."""
        event = self._messages.event(rows, keys, row)
        seen = self._checker.seen(event)
        if any(rule.check(event.message, seen) is not None for rule in rules):
            self.doubted[int(rows.pair[row])] = True

    def _apply_to_batch(self, rows: Decoded, unit: int, rules: list[Rule]) -> None:
        if not self.doubted[int(rows.units.pair[unit])]:
            self._checker.apply_to_batch(self._messages.batch(rows, unit), rules)

    def _apply_to_noncanonical(self, rows: Decoded, units: NDArray[np.int64]) -> None:
        """Evaluates the rules about noncanonical encodings for batches that may be noncanonical."""
        rules = rule_selection.tracked_by("noncanonical")
        for unit in np.unique(units).tolist():
            first = int(np.searchsorted(rows.unit, unit))
            self._add_step(first - 0.4, self._apply_to_batch, rows, unit, rules)

    def _note_first_message(self, rows: Decoded, row: int) -> None:
        """The first message of a side."""
        event = self._messages.bare_event(rows, row, _NO_MESSAGE)
        note_first_message(event, self._checker.facts(event.session))

    def _side(self, rows: Decoded, row: int) -> SideFacts:
        link = self._links[int(rows.pair[row])]
        session, side = link.session, link.sides[int(rows.direction[row])]
        node = None if session is None else session.nodes[side]
        return self._checker.facts(session).side(node)

    # --- rules that need facts of earlier messages -------------------------------------------

    def _track(self, rows: Decoded, keys: KeyColumn) -> None:
        self.doubted[rows.pair[self._requests.doubtful(rows, keys)]] = True
        for backwards in self._sources.backwards(rows):
            self._add_step(backwards.row, self._check_source, rows, keys, *backwards)
        for skipped in self._fragments.skipped(rows):
            self._add_step(skipped.row, self._check_fragments, rows, keys, *skipped)

    def _check_silence(self, rows: Decoded, unit: int, own: int, other: int) -> None:
        """Checks a batch after a long silence."""
        units = rows.units
        pair, direction = int(units.pair[unit]), int(units.direction[unit])
        first = int(np.searchsorted(rows.unit, unit))
        if first == len(rows) or rows.unit[first] != unit:
            self.doubted[pair] = True  # a last CLOSE, which is no message
        elif not self.doubted[pair]:
            last_sent_ns = [own, other] if direction == 0 else [other, own]
            self._checker.link_facts(self._links[pair]).last_batch_ns = last_sent_ns
            batch = self._messages.batch(rows, unit)
            self._checker.apply_to_batch(batch, rule_selection.tracked_by("silences"))

    def _check_source(self, rows: Decoded, keys: KeyColumn, row: int, last: int) -> None:
        """Checks a publication whose number is below the last one of its source."""
        event = self._messages.event(rows, keys, row)
        seen, message = self._checker.seen(event), event.message
        source = message.body.source_info if isinstance(message, Push) else None
        if source is not None:
            name = str(source.zid), source.eid, stream_of(seen)
            seen.sender.source_sns = {name: last}
            self._apply(rows, keys, row, rule_selection.tracked_by("sources"))

    def _check_fragments(
        self, rows: Decoded, keys: KeyColumn, row: int, last: int, channel: int
    ) -> None:
        """Checks a message whose number does not follow that of the last fragment."""
        self._side(rows, row).after_fragments = {channel: last}
        self._apply(rows, keys, row, rule_selection.tracked_by("fragments"))

    def _doubt_undeclared(self, rows: Decoded) -> None:
        """Doubts pairs with messages that a rule without a declared screen may be about."""
        kinds = rule_selection.doubted_kinds()
        if kinds is None:
            self.doubted[rows.units.pair] = True
        elif kinds:
            self.doubted[rows.pair[rows.is_kind(*sorted(kinds))]] = True
