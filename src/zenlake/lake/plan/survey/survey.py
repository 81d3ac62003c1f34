"""Survey: what a capture's connections are, and which of them the fast reader reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from zenlake.errors import LocalError
from zenlake.lake.fast_reader.assemble import pairs as field
from zenlake.lake.fast_reader.assemble import reasons
from zenlake.lake.fast_reader.assemble.assemble_kernel import ELSEWHERE, NO_PAIR
from zenlake.lake.fast_reader.assemble.connection import CAUSES
from zenlake.lake.fast_reader.assemble.pairs import end_text
from zenlake.lake.plan.survey.ranges import ranges_of
from zenlake.trace.link import LinkEnd

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

_FACTS: Final = ("size_bytes", "packets", "first_ns", "last_ns", "others", "cut_bytes")
_MORE: Final = ("keys", "marks", "ranges", "specials", "elsewhere")
COUNTED: Final = (
    *("pair_packets", "pair_bytes", "first_packet", "last_packet"),
    *("pair_first_ns", "pair_last_ns"),
)
"""Columns that an index has."""
COLUMNS: Final = {
    "reason": field.REASON,
    "first_side": field.FIRST_SIDE,
    "pair_packets": field.PACKETS,
    "pair_bytes": field.BYTES,
    "first_packet": field.FIRST_PACKET,
    "last_packet": field.LAST_PACKET,
    "pair_first_ns": field.FIRST_NS,
    "pair_last_ns": field.LAST_NS,
    "cause": field.CAUSE,
    "closed_packet": field.CLOSED_PACKET,
    "closed_ns": field.CLOSED_NS,
    "ended_ns": field.ENDED_NS,
    "ended_packet": field.ENDED_PACKET,
    "ended_cause": field.ENDED_CAUSE,
    "ended_side": field.ENDED_SIDE,
}


class Survey:
    """One row for each pair of ends, in the order they were first seen.

    Of a regular pair, direction 0 sent the SYN and opened the session. How its link ended is what
    the exact reader says in `LinkClosed` and `Link.ended_ns`; of the others it is not known.

    A part of a survey has the pairs that one task reads, and where in the file these are.
    """

    def __init__(
        self, facts: dict[str, int], columns: dict[str, NDArray[Any]], zids: NDArray[np.str_]
    ) -> None:
        self.size_bytes = facts["size_bytes"]
        self.packets = facts["packets"]
        self.first_ns = facts["first_ns"]
        """Of the first packet; 0 where there is none."""
        self.last_ns = facts["last_ns"]
        self.others = facts["others"]
        """Packets that are of no pair: all that is not TCP."""
        self.cut_bytes = facts["cut_bytes"]
        """Of a record that the file ends in, which is not read."""
        self.keys: NDArray[np.int64] = columns["keys"]
        self.pair_of: NDArray[np.int32] = columns["pair_of"]
        """For each packet of the ranges its pair, or `NO_PAIR`, or `ELSEWHERE`."""
        self.ranges: NDArray[np.int64] = columns["ranges"]
        """What is to be read, as `reading.Range` has it."""
        self.marks: NDArray[np.int64] = columns["marks"]
        """Offsets of records, some MiB apart, and the numbers of the packets that follow."""
        self.specials: NDArray[np.int64] = columns["specials"]
        """Offset and length of the blocks of pcapng that packets depend on."""
        self.reason: NDArray[np.int64] = columns["reason"]
        """Why a pair is not regular, an index of `reasons.WORDS`; 0 where it is."""
        self.first_side: NDArray[np.int64] = columns["first_side"]
        self.pair_packets: NDArray[np.int64] = columns["pair_packets"]
        self.pair_bytes: NDArray[np.int64] = columns["pair_bytes"]
        """As captured, all layers."""
        self.first_packet: NDArray[np.int64] = columns["first_packet"]
        self.last_packet: NDArray[np.int64] = columns["last_packet"]
        self.pair_first_ns: NDArray[np.int64] = columns["pair_first_ns"]
        self.pair_last_ns: NDArray[np.int64] = columns["pair_last_ns"]
        self.cause: NDArray[np.int64] = columns["cause"]
        """An index of `connection.CAUSES`."""
        self.closed_packet: NDArray[np.int64] = columns["closed_packet"]
        self.closed_ns: NDArray[np.int64] = columns["closed_ns"]
        self.ended_ns: NDArray[np.int64] = columns["ended_ns"]
        self.ended_packet: NDArray[np.int64] = columns["ended_packet"]
        self.ended_cause: NDArray[np.int64] = columns["ended_cause"]
        self.ended_side: NDArray[np.int64] = columns["ended_side"]
        self.elsewhere: NDArray[np.str_] = columns["elsewhere"]
        """Nodes that were also met where nothing is said of when, in the whole capture."""
        self.zids = zids
        """Of the node that sent INIT_SYN and the one that answered; empty where not seen."""
        self._ends: dict[int, tuple[str, str]] = {}

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def may_be_regular(self) -> NDArray[np.bool_]:
        """Regular, or not checked yet."""
        found: NDArray[np.bool_] = self.regular | (self.reason == reasons.UNCHECKED)
        return found

    @property
    def regular(self) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self.reason == reasons.NONE
        return found

    def doubting(self, pairs: NDArray[np.bool_]) -> Survey:
        """The same, where some pairs are for the exact reader."""
        facts = {name: getattr(self, name) for name in _FACTS}
        columns = {name: getattr(self, name) for name in (*_MORE, "pair_of", *COLUMNS)}
        columns["reason"] = np.where(pairs, reasons.DOUBTED, self.reason)
        return Survey(facts, columns, self.zids)

    def checked(self, columns: dict[str, NDArray[Any]]) -> Survey:
        """The same, of which more is known."""
        facts = {name: getattr(self, name) for name in _FACTS}
        more = {name: getattr(self, name) for name in (*_MORE, "pair_of", *COUNTED)}
        return Survey(facts, {**columns, **more}, self.zids)

    def part(
        self, pairs: NDArray[np.bool_], with_other: bool, stretches: NDArray[np.bool_]
    ) -> Survey:
        """Some pairs, all of whose packets lie in these stretches between marks."""
        facts = {name: getattr(self, name) for name in _FACTS}
        facts["others"] = self.others if with_other else 0
        columns = {name: getattr(self, name)[pairs] for name in ("keys", *COLUMNS)}
        columns |= {name: getattr(self, name) for name in ("marks", "specials", "elsewhere")}
        ranges = columns["ranges"] = ranges_of(
            self.marks, (self.size_bytes, self.packets + 1), stretches
        )
        number = np.full(len(self) + 1, ELSEWHERE, np.int32)
        number[:-1][pairs] = np.arange(np.count_nonzero(pairs))
        if with_other:
            number[NO_PAIR] = NO_PAIR
        columns["pair_of"] = np.concatenate(
            [np.zeros(0, np.int32)]
            + [
                number[self.pair_of[first - 1 : first - 1 + count]]
                for _, _, first, count in ranges.tolist()
            ]
        )
        return Survey(facts, columns, self.zids[pairs])

    def ends(self, pair: int) -> tuple[str, str]:
        """Both ends, of a regular pair the one first that direction 0 is from."""
        found = self._ends.get(pair)
        if found is None:
            key, first = self.keys[pair], int(self.first_side[pair])
            found = self._ends[pair] = end_text(key, first), end_text(key, 1 - first)
        return found

    def link_name(self, pair: int) -> str:
        """As the exact reader names it: a regular pair has one connection, the first."""
        if self.reason[pair]:
            raise LocalError("a pair that is not regular may have several links")
        source, destination = self.ends(pair)
        return f"{source}-{destination}#1"

    def cause_word(self, pair: int) -> str:
        """What ended the link: `fin`, `rst`, or the `end` of the capture."""
        return CAUSES[int(self.cause[pair])]

    def end_of(self, pair: int) -> LinkEnd | None:
        """What ended the first of its directions; None where the capture did."""
        if not self.ended_cause[pair]:
            return None
        direction = int(self.ended_side[pair] != self.first_side[pair])
        cause, packet = CAUSES[int(self.ended_cause[pair])], int(self.ended_packet[pair])
        return LinkEnd(cause, direction, packet, int(self.ended_ns[pair]))

    def save(self, path: str) -> None:
        """Of packets that others read nothing is stored."""
        columns = {name: getattr(self, name) for name in (*_MORE, "zids", *COLUMNS)}
        columns["facts"] = np.array([getattr(self, name) for name in _FACTS], np.int64)
        own = np.flatnonzero(self.pair_of != ELSEWHERE)
        columns["pair_of"] = self.pair_of[own]
        # How far each is behind the one before, which compresses well.
        columns["steps"] = np.diff(own, prepend=-1).astype(np.uint32)
        with open(path, "wb") as file:
            np.savez(file, allow_pickle=False, **columns)

    @staticmethod
    def load(path: str) -> Survey:
        with np.load(path, allow_pickle=False) as stored:
            columns = {name: stored[name] for name in (*_MORE, *COLUMNS)}
            pair_of = np.full(int(columns["ranges"][:, 3].sum()), ELSEWHERE, np.int32)
            pair_of[np.cumsum(stored["steps"], dtype=np.int64) - 1] = stored["pair_of"]
            columns["pair_of"] = pair_of
            facts = dict(zip(_FACTS, stored["facts"].tolist(), strict=True))
            return Survey(facts, columns, stored["zids"])
