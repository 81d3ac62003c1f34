"""Screen: violations of regular connections, without looking at every message.

Handshakes, declarations, interests and link states are few: rules are asked about them as on the
scalar road. Of all else, columns tell that no rule has anything to say. Where they do not, the
pair is `doubted`, and its findings are left to whoever reads it again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from operator import itemgetter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from zenlake.lake.reading.columns.decoded import Decoded
from zenlake.lake.reading.columns.keys import KeyColumn
from zenlake.lake.reading.judge import add_findings
from zenlake.lake.reading.screening.requests import RequestScreen
from zenlake.lake.reading.screening.spelling import oddly_spelled
from zenlake.lake.reading.screening.terms import Terms
from zenlake.lake.reading.screening.times import SilenceScreen, SourceScreen
from zenlake.lake.reading.screening.values import RESPONSES, doubtful_units, doubtful_values
from zenlake.rules import RULES, Checker, Finding
from zenlake.rules.checker import meet
from zenlake.rules.facts import Line, Seen, Talk
from zenlake.rules.finding import place_of
from zenlake.rules.rare import RareMessages, give_carriers, give_keys
from zenlake.trace.events import MessageSeen, TraceEvent
from zenlake.trace.link import Link, LinkBatch, LinkClosed
from zenlake.trace.links.connection import LinkItem
from zenlake.trace.rows.rows import Rows
from zenlake.wire._generated.transport import Frame

_OF_TIME: Final = ("lease-exceeded", "keep-alive-late", "lease-not-enforced")
"""They need every batch; columns tell."""
_SKIPPED: Final = RULES["sn-skipped-after-fragments"]
_KEYLESS: Final = RULES["response-key-empty"]
_NOBODY: Final[OrderedDict[str, int]] = OrderedDict()
_DATA: Final = 5
_RARE: Final = (
    "INTEREST",
    "OAM",
    "OAM/LINKSTATE",
    *(f"DECLARE/{way}_{what}" for way in "DU" for what in ("KEYEXPR", "SUBSCRIBER")),
    *(f"DECLARE/{way}_{what}" for way in "DU" for what in ("QUERYABLE", "TOKEN")),
    "DECLARE/D_FINAL",
)
_CARRIERS: Final = ("FRAME", "FRAGMENT", "KEEP_ALIVE", "CLOSE")
_HANDSHAKE: Final = ("INIT_SYN", "INIT_ACK", "OPEN_SYN", "OPEN_ACK")

Step = tuple[float, Callable[[Any], None], Any]
"""Its place among the rows, and what is to be done with what."""


class Screen:
    """Give it what the columnar road reads; `doubted` is which pairs to read again."""

    def __init__(self, pairs: int, rows: Rows, links: dict[int, Link]) -> None:
        self.doubted = np.zeros(pairs, np.bool_)
        self._rows = rows
        self._links = links
        self._pairs: dict[Link, int] = {}
        self._checker = Checker([id for id in RULES if id not in _OF_TIME])
        self._terms = Terms(pairs)
        self._requests = RequestScreen()
        self._silences = SilenceScreen(pairs)
        self._sources = SourceScreen()
        self._steps: list[Step] = []
        self._held: dict[int, list[Finding]] = {}
        """Findings of pairs that may still be doubted."""
        self._messages = RareMessages(links)
        self._met: set[int] = set()
        self._named: set[tuple[int, int]] = set()
        self._fragments: dict[int, int] = {}
        """By channel, the number of a last fragment that nothing followed yet."""

    # --- what the walker tells ---------------------------------------------------------------

    def handshake(self, row: int, pair: int, batch: LinkBatch, events: list[TraceEvent]) -> None:
        """A batch of INIT, OPEN or CLOSE; `row` is the place of its first message."""
        session = batch.link.session
        if session is not None:
            self._terms.learn(pair, batch.direction, session, batch.messages)
        self._pairs[batch.link] = pair
        self._steps.append((row, self._feed, (batch, events)))

    def _feed(self, fed: tuple[LinkItem, list[TraceEvent]]) -> None:
        self._checker.feed(*fed)

    def closed(
        self, rows: Decoded | None, pair: int, item: LinkClosed, events: list[TraceEvent]
    ) -> None:
        place = 0 if rows is None else int(np.searchsorted(rows.packet, item.packet, "right"))
        self._steps.append((place - 0.5, self._close, (pair, item, events)))

    def _close(self, closed: tuple[int, LinkClosed, list[TraceEvent]]) -> None:
        pair, item, events = closed
        self._checker.feed(item, events)
        self._hold()
        is_late = self._requests.left_open(pair, item.time_ns)
        self.doubted[pair] |= is_late | self._silences.is_doubtful(pair, self._terms)
        self._sources.forget(pair)
        held = self._held.pop(pair, [])
        if not self.doubted[pair]:
            add_findings(self._rows, held)

    # --- columns -----------------------------------------------------------------------------

    def look(self, rows: Decoded, keys: KeyColumn) -> None:
        """Rows in order, after their handshakes were told."""
        terms = self._terms
        doubt = doubtful_values(rows, keys, terms) | oddly_spelled(rows)
        doubt[self._requests.doubtful(rows, keys)] = True
        doubt[self._sources.doubtful(rows)] = True
        self.doubted[rows.pair[doubt]] = True
        self.doubted[rows.units.pair[doubtful_units(rows, terms)]] = True
        self.doubted[self._silences.doubtful(rows, terms)] = True
        self._first_words(rows)
        self._rare(rows, keys)
        self._node_ids(rows)
        self._numbers_after_fragments(rows)
        self._without_key(rows, keys)
        self.finish()

    def finish(self) -> None:
        """Take the steps in their order."""
        self._steps.sort(key=itemgetter(0))
        for _, take, what in self._steps:
            take(what)
        self._steps.clear()
        self._hold()

    def _hold(self) -> None:
        for finding in self._checker.take():
            pair = self._pairs[finding.place.link]
            if not self.doubted[pair]:
                self._held.setdefault(pair, []).append(finding)

    def _events(
        self, rows: Decoded, keys: KeyColumn | None, chosen: NDArray[np.int64]
    ) -> list[MessageSeen]:
        """Some messages as the scalar road has them."""
        units, columns, unit = rows.units, rows.columns, rows.unit[chosen]
        view = columns.data.data
        starts = columns["offset"][chosen].astype(np.int64)
        stops = starts + columns["length"][chosen]
        bounds = zip(starts.tolist(), stops.tolist(), strict=True)
        contents = [bytes(view[start:stop]) for start, stop in bounds]
        columns_of = (units.pair, units.direction, units.packet, units.time_ns)
        places: tuple[list[int], ...] = tuple(one[unit].tolist() for one in columns_of)
        pairs, directions, packets, times_ns = places
        odd: list[int] = []
        found = self._messages.events(contents, pairs, directions, packets, times_ns, odd)
        # How fragments were put together says nothing of the bytes they came in.
        odd_units = unit[odd]
        self.doubted[units.pair[odd_units[rows.is_batch[odd_units]]]] = True
        if keys is not None:
            give_keys(found, keys.codes[chosen].tolist(), keys.texts)
        return found

    def _rare(self, rows: Decoded, keys: KeyColumn) -> None:
        """Messages that rules are asked about."""
        chosen = np.flatnonzero(rows.is_kind(*_RARE))
        sn, has_sn = rows.channel("sn")
        priority, has_priority = rows.channel("priority")
        reliable, _ = rows.channel("reliable")
        priority = np.where(has_priority, priority & 7, _DATA)
        columns = (sn, priority, reliable != 0)
        lanes = zip(*(column[chosen].tolist() for column in columns), strict=True)
        events = self._events(rows, keys, chosen)
        is_carried = has_sn[chosen].tolist()
        give_carriers(
            events, [lane if is_so else None for lane, is_so in zip(lanes, is_carried, strict=True)]
        )
        see = self._checker.see
        self._steps += [
            (row, see, event) for row, event in zip(chosen.tolist(), events, strict=True)
        ]

    def _first_words(self, rows: Decoded) -> None:
        """The first message of each side, of whatever kind."""
        network = np.flatnonzero(~rows.is_kind(*_CARRIERS, *_HANDSHAKE))
        owners, first = np.unique(rows.owner[network], return_index=True)
        new = [place for place, owner in enumerate(owners.tolist()) if owner not in self._met]
        self._met.update(owners.tolist())
        chosen = network[first[new]]
        for row, event in zip(chosen.tolist(), self._events(rows, None, chosen), strict=True):
            self._steps.append((row - 0.25, self._meet, event))

    def _meet(self, event: MessageSeen) -> None:
        meet(event, self._talk(event))

    def _node_ids(self, rows: Decoded) -> None:
        """The first use of each NodeId between routers: a link state must have named it."""
        ids = rows.columns["node_id"]
        if not ids.any():
            return
        used = np.flatnonzero((ids != 0) & rows.is_kind("PUSH/PUT", "PUSH/DEL", "REQUEST"))
        names = rows.owner[used] << 32 | ids[used].astype(np.int64)
        names, first = np.unique(names, return_index=True)
        new = [place for place, name in enumerate(names.tolist()) if name not in self._named]
        self._named.update(names.tolist())
        chosen = used[first[new]]
        for row, event in zip(chosen.tolist(), self._events(rows, None, chosen), strict=True):
            self._steps.append((row, self._name, event))

    def _name(self, event: MessageSeen) -> None:
        node_id = getattr(event.message, "node_id", None)
        if node_id not in self._talk(event).side(event.sender_node).psids:
            self.doubted[self._pairs[event.link]] = True

    def _numbers_after_fragments(self, rows: Decoded) -> None:
        """Numbers that are left out after a message in fragments: a note that is seen in columns,
        because deployed nodes do so each time."""
        is_fragment = rows.is_kind("FRAGMENT")
        if not self._fragments and not is_fragment.any():
            return
        columns = rows.columns
        waiting = np.array([channel >> 4 for channel in self._fragments], np.int64)
        owners = np.concatenate((np.unique(rows.owner[is_fragment]), waiting))
        chosen = np.flatnonzero((is_fragment | rows.is_kind("FRAME")) & np.isin(rows.owner, owners))
        priority = np.where(rows.present("priority"), columns["priority"] & 7, _DATA)[chosen]
        channels = rows.owner[chosen] << 4 | priority.astype(np.int64) << 1
        channels |= columns["reliable"][chosen] != 0
        is_part = (columns["fragment_more"][chosen] != 0) | (columns["fragment_drop"][chosen] != 0)
        is_last = is_fragment[chosen] & ~is_part
        sns = columns["sn"][chosen].tolist()
        for row, channel, sn, ends in zip(
            chosen.tolist(), channels.tolist(), sns, is_last.tolist(), strict=True
        ):
            last = self._fragments.pop(channel, None)
            if last is not None and sn != last + 1:
                self._steps.append((row, self._skipped, (rows, row, last)))
            if ends:
                self._fragments[channel] = sn

    def _without_key(self, rows: Decoded, keys: KeyColumn) -> None:
        """Responses without a key, which deployed nodes send when a request's time is over."""
        if "" not in keys.texts:
            return
        empty = keys.codes == keys.texts.index("")
        chosen = np.flatnonzero(empty & rows.is_kind(*RESPONSES))
        for row, event in zip(chosen.tolist(), self._events(rows, keys, chosen), strict=True):
            self._steps.append((row, self._keyless, event))

    def _keyless(self, event: MessageSeen) -> None:
        text = _KEYLESS.judge(event.message, Seen(event, self._talk(event), Line(False), _NOBODY))
        if text is not None:
            self._checker.report(_KEYLESS, self._talk(event), place_of(event), text)

    def _talk(self, event: MessageSeen) -> Talk:
        return self._checker.talk(event.session)

    def _skipped(self, place: tuple[Decoded, int, int]) -> None:
        rows, row, last = place
        link = self._links[int(rows.pair[row])]
        session = link.session
        sn = int(rows.columns["sn"][row])
        if session is None or sn != (last + 2) & session.mask:
            return
        direction = int(rows.direction[row])
        node = session.nodes[link.sides[direction]]
        packet, time_ns = int(rows.packet[row]), int(rows.time_ns[row])
        frame = Frame(sn, [])
        event = MessageSeen(0, packet, time_ns, link, direction, session, node, "FRAME", frame)
        text = f"{last} is followed by {sn}"
        self._checker.report(_SKIPPED, self._checker.talk(session), place_of(event), text)
