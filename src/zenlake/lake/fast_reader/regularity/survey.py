"""Survey: the connections of a capture, and which of them the fast reader reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from zenlake.errors import LocalError
from zenlake.lake.fast_reader.assemble import pairs as field
from zenlake.lake.fast_reader.assemble import reasons
from zenlake.lake.fast_reader.assemble.assemble_kernel import NO_PAIR, OTHER_TASK
from zenlake.lake.fast_reader.assemble.connection import CAUSES
from zenlake.lake.fast_reader.assemble.pairs import end_text
from zenlake.lake.fast_reader.regularity.ranges import ranges_of
from zenlake.trace.link import LinkEnd

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from zenlake.lake.fast_reader.scan.capture_file import Scan

_FACTS: Final = (
    *("size_bytes", "packets", "first_ns", "last_ns", "others", "cut_bytes"),
    *("packets_before", "state_packets", "dropped", "redacted"),
)
_MORE: Final = ("keys", "zids", "marks", "ranges", "specials", "elsewhere")
COUNTED: Final = (
    *("pair_packets", "pair_bytes", "first_packet", "last_packet"),
    *("pair_first_ns", "pair_last_ns"),
)
"""Columns that an index fills; a check keeps them."""
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
    """One row for each pair of ends, in the order of their first packets.

    In a regular pair, direction 0 sent the SYN and opened the session. The columns about its end
    have the values of the exact reader's `LinkClosed` and `Link.ended_ns`; they are not known for
    irregular pairs.

    A part of a survey has the pairs that one task reads, and their ranges of the file.
    """

    def __init__(self, facts: dict[str, int], columns: dict[str, NDArray[Any]]) -> None:
        self.size_bytes = facts["size_bytes"]
        self.packets = facts["packets"]
        self.first_ns = facts["first_ns"]
        """Time of the first packet; 0 where there is none."""
        self.last_ns = facts["last_ns"]
        self.others = facts["others"]
        """Number of packets without a pair: all that is not TCP."""
        self.cut_bytes = facts["cut_bytes"]
        """Bytes of an incomplete last record, which is not read."""
        self.packets_before = facts["packets_before"]
        """Packets of a recording before those that are here: add it for numbers in tables."""
        self.state_packets = facts["state_packets"]
        """Packets before the first one, with numbers up to 0."""
        self.dropped = facts["dropped"]
        """Packets that the recorder dropped."""
        self.redacted = facts["redacted"]
        """Segments of a recorder with rules, which remove messages."""
        self.keys: NDArray[np.int64] = columns["keys"]
        self.pair_of: NDArray[np.int32] = columns["pair_of"]
        """The pair of each packet of the ranges, or `NO_PAIR`, or `OTHER_TASK`."""
        self.ranges: NDArray[np.int64] = columns["ranges"]
        """The parts of the file to read; rows are those of `capture_pass.Range`."""
        self.marks: NDArray[np.int64] = columns["marks"]
        """Offsets of records, some MiB apart, and the numbers of the next packets."""
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
        """Nodes that the whole capture shows at other places, at times that are not known."""
        self.zids: NDArray[np.str_] = columns["zids"]
        """Identities of opener and acceptor; empty where not seen."""
        self._ends: dict[int, tuple[str, str]] = {}
        self._link_ends: dict[int, LinkEnd | None] = {}

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def first_number(self) -> int:
        """The number of the first packet, whose pair is the first of `pair_of`."""
        return 1 - self.state_packets

    @property
    def last_number(self) -> int:
        """The number of the last packet in tables."""
        return self.packets and self.packets + self.packets_before

    def is_of(self, scan: Scan) -> bool:
        """Whether a file begins as the surveyed one."""
        facts = scan.packets_before, scan.state_packets
        return facts == (self.packets_before, self.state_packets)

    def recorded(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Numbers of packets as in tables: those of the recording."""
        if not self.packets_before:
            return numbers
        found: NDArray[np.int64] = np.where(numbers > 0, numbers + self.packets_before, numbers)
        return found

    @property
    def may_be_regular(self) -> NDArray[np.bool_]:
        """Regular, or not checked yet."""
        found: NDArray[np.bool_] = self.regular | (self.reason == reasons.UNCHECKED)
        return found

    @property
    def regular(self) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self.reason == reasons.NONE
        return found

    def _values(self, *names: str) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names}

    def doubting(self, pairs: NDArray[np.bool_]) -> Survey:
        """A copy in which some pairs are left to the exact reader."""
        columns = self._values(*_MORE, "pair_of", *COLUMNS)
        columns["reason"] = np.where(pairs, reasons.DOUBTED, self.reason)
        return Survey(self._values(*_FACTS), columns)

    def checked(self, columns: dict[str, NDArray[Any]]) -> Survey:
        """A copy with the columns that a check found."""
        kept = self._values(*_MORE, "pair_of", *COUNTED)
        return Survey(self._values(*_FACTS), columns | kept)

    def part(
        self, pairs: NDArray[np.bool_], with_other: bool, stretches: NDArray[np.bool_]
    ) -> Survey:
        """A survey of some pairs, all of whose packets lie in these stretches between marks."""
        facts = self._values(*_FACTS)
        facts["others"] = self.others if with_other else 0
        columns = {name: getattr(self, name)[pairs] for name in ("keys", "zids", *COLUMNS)}
        columns |= self._values("marks", "specials", "elsewhere")
        ranges = columns["ranges"] = ranges_of(
            self.marks, (self.size_bytes, self.packets + 1), stretches
        )
        number = np.full(len(self) + 1, OTHER_TASK, np.int32)
        number[:-1][pairs] = np.arange(np.count_nonzero(pairs))
        if with_other:
            number[NO_PAIR] = NO_PAIR
        columns["pair_of"] = np.concatenate(
            [np.zeros(0, np.int32)]
            + [
                number[self.pair_of[first : first + count]]
                for _, _, first, count in (ranges - (0, 0, self.first_number, 0)).tolist()
            ]
        )
        return Survey(facts, columns)

    def ends(self, pair: int) -> tuple[str, str]:
        """Both ends; the first is the sender of direction 0 in a regular pair."""
        found = self._ends.get(pair)
        if found is None:
            key, first = self.keys[pair], int(self.first_side[pair])
            found = self._ends[pair] = end_text(key, first), end_text(key, 1 - first)
        return found

    def link_name(self, pair: int) -> str:
        """Its name in the exact reader; a regular pair has one connection, number 1."""
        if self.reason[pair]:
            raise LocalError("a pair that is not regular may have several links")
        source, destination = self.ends(pair)
        return f"{source}-{destination}#1"

    def cause_word(self, pair: int) -> str:
        """What ended the link: `fin`, `rst`, or the `end` of the capture."""
        return CAUSES[int(self.cause[pair])]

    def end_of(self, pair: int) -> LinkEnd | None:
        """What ended its first direction; None where the capture ended before."""
        if pair not in self._link_ends:
            self._link_ends[pair] = self._link_end(pair)
        return self._link_ends[pair]

    def _link_end(self, pair: int) -> LinkEnd | None:
        if not self.ended_cause[pair]:
            return None
        direction = int(self.ended_side[pair] != self.first_side[pair])
        cause = CAUSES[int(self.ended_cause[pair])]
        packet = int(self.recorded(self.ended_packet[pair : pair + 1])[0])
        return LinkEnd(cause, direction, packet, int(self.ended_ns[pair]))

    def save(self, path: str) -> None:
        """Writes a file; packets of other tasks are left out."""
        columns = self._values(*_MORE, *COLUMNS)
        columns["facts"] = np.array([*self._values(*_FACTS).values()], np.int64)
        own = np.flatnonzero(self.pair_of != OTHER_TASK)
        columns["pair_of"] = self.pair_of[own]
        # Differences of packet numbers compress well.
        columns["steps"] = np.diff(own, prepend=-1).astype(np.uint32)
        with open(path, "wb") as file:
            np.savez(file, allow_pickle=False, **columns)

    @staticmethod
    def load(path: str) -> Survey:
        with np.load(path, allow_pickle=False) as stored:
            columns = {name: stored[name] for name in (*_MORE, *COLUMNS)}
            pair_of = np.full(int(columns["ranges"][:, 3].sum()), OTHER_TASK, np.int32)
            pair_of[np.cumsum(stored["steps"], dtype=np.int64) - 1] = stored["pair_of"]
            columns["pair_of"] = pair_of
            facts = dict(zip(_FACTS, stored["facts"].tolist(), strict=True))
            return Survey(facts, columns)
