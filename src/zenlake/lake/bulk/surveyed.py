"""Survey: what a capture's connections are, and which of them the bulk road reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from zenlake.errors import LocalError
from zenlake.lake.bulk import pairs as field
from zenlake.lake.bulk import reasons
from zenlake.lake.bulk.connection import CAUSES
from zenlake.lake.bulk.pairs import end_text
from zenlake.trace.link import LinkEnd

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

_FACTS: Final = ("size_bytes", "packets", "first_ns", "last_ns", "others", "cut_bytes")
_MORE: Final = ("keys", "pair_of")
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
    the scalar road says in `LinkClosed` and `Link.ended_ns`; of the others it is not known.
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
        """For each packet its pair, or -1 where it is of none."""
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
        self.zids = zids
        """Of the node that sent INIT_SYN and the one that answered; empty where not seen."""
        self._ends: dict[int, tuple[str, str]] = {}

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def regular(self) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self.reason == reasons.NONE
        return found

    def doubting(self, pairs: NDArray[np.bool_]) -> Survey:
        """The same, where some pairs are for the scalar road."""
        facts = {name: getattr(self, name) for name in _FACTS}
        columns = {name: getattr(self, name) for name in (*_MORE, *COLUMNS)}
        columns["reason"] = np.where(pairs, reasons.DOUBTED, self.reason)
        return Survey(facts, columns, self.zids)

    def ends(self, pair: int) -> tuple[str, str]:
        """Both ends, of a regular pair the one first that direction 0 is from."""
        found = self._ends.get(pair)
        if found is None:
            key, first = self.keys[pair], int(self.first_side[pair])
            found = self._ends[pair] = end_text(key, first), end_text(key, 1 - first)
        return found

    def link_name(self, pair: int) -> str:
        """As the scalar road names it: a regular pair has one connection, the first."""
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
        columns = {name: getattr(self, name) for name in (*_MORE, "zids", *COLUMNS)}
        facts = np.array([getattr(self, name) for name in _FACTS], np.int64)
        with open(path, "wb") as file:
            np.savez(file, allow_pickle=False, facts=facts, **columns)

    @staticmethod
    def load(path: str) -> Survey:
        with np.load(path, allow_pickle=False) as stored:
            columns = {name: stored[name] for name in (*_MORE, *COLUMNS)}
            facts = dict(zip(_FACTS, stored["facts"].tolist(), strict=True))
            return Survey(facts, columns, stored["zids"])
