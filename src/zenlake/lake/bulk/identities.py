"""Identities: which nodes each pair connects, as its INITs say, and which share several links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from zenlake.lake.bulk.conversation import STAGE, ZIDS
from zenlake.wire.values.zenoh_id import ZID_BYTES_MAX

if TYPE_CHECKING:
    from numpy.typing import NDArray

UDP_LINKS: Final = -1
"""In the place of a pair: all that was seen outside TCP."""
_UNKNOWN: Final = -1
_ZID_AT: Final = 3
_ANSWER: Final = 0x20


class Identities:
    """Nodes are numbered; for each INIT that was seen, its pair, its role and its node.

    The role is 0 of the node that opened, 1 of the one that answered.
    """

    def __init__(
        self,
        data: NDArray[np.uint8],
        sightings: NDArray[np.int64],
        talks: NDArray[np.int64],
    ) -> None:
        """From the handshakes that were followed, and from INITs seen anywhere else."""
        # An INIT begins with header, version, and how long the identity is that follows (§14).
        begin = sightings[:, 2]
        place = np.arange(ZID_BYTES_MAX)
        raw = data[np.minimum(begin[:, None] + _ZID_AT + place, len(data) - 1)]
        raw[place > data[begin + _ZID_AT - 1][:, None] >> 4] = 0
        is_answer = data[begin] & _ANSWER != 0
        # Those of handshakes come first.
        pairs, roles = np.nonzero(np.arange(2) < talks[:, STAGE, None])
        followed = talks[:, ZIDS : ZIDS + 4].reshape(-1, 2)[2 * pairs + roles]
        raw = np.concatenate((followed.view(np.uint8).reshape(-1, ZID_BYTES_MAX), raw))
        first, self._node = _numbered(raw)
        texts = [format(int.from_bytes(raw[row].tobytes(), "little"), "x") for row in first]
        self._pair = np.concatenate((pairs, sightings[:, 0]))
        self._role = np.concatenate((roles, is_answer)).astype(np.int64)
        self._first = np.full((len(talks), 2), _UNKNOWN, np.int64)
        is_tcp = self._pair != UDP_LINKS
        # Of several the first: what is assigned last stays.
        cells = tuple(column[is_tcp][::-1] for column in (self._pair, self._role))
        self._first[cells] = self._node[is_tcp][::-1]
        self.zids: NDArray[np.str_] = np.array([*texts, ""], "<U32")[self._first]
        """Of each pair, the first ones seen; empty where none was."""

    def sharing(self, begins: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Pairs of which another one connects the same nodes while they live (§14)."""
        is_elsewhere = np.isin(self._first, self._elsewhere())
        found = is_elsewhere[:, 0] & is_elsewhere[:, 1]
        pairs = np.flatnonzero((self._first != _UNKNOWN).all(axis=1))
        one, other = self._first[pairs].T
        keys = np.minimum(one, other) << 32 | np.maximum(one, other)
        order = np.lexsort((begins[pairs], keys))
        pairs, keys = pairs[order], keys[order]
        is_repeated = np.zeros(len(keys), np.bool_)
        is_repeated[1:] = keys[1:] == keys[:-1]
        key, until, latest = _UNKNOWN, _UNKNOWN, _UNKNOWN
        for index in np.flatnonzero(is_repeated).tolist():
            if keys[index] != key:
                key, latest = int(keys[index]), int(pairs[index - 1])
                until = int(ends[latest])
            pair = int(pairs[index])
            if begins[pair] <= until:
                found[[latest, pair]] = True
            if ends[pair] >= until:
                until, latest = int(ends[pair]), pair
        return found

    def _elsewhere(self) -> NDArray[np.int64]:
        """Nodes that were met over UDP, or on pairs that had several sessions: who knows when."""
        is_tcp = self._pair != UDP_LINKS
        pair, role, node = self._pair[is_tcp], self._role[is_tcp], self._node[is_tcp]
        several = pair[node != self._first[pair, role]]
        found: NDArray[np.int64] = self._node[~is_tcp | np.isin(self._pair, several)]
        return found


def _numbered(raw: NDArray[np.uint8]) -> tuple[list[int], NDArray[np.int64]]:
    """A number for each different row, and for each number a row that has it."""
    words = raw.view("<u8")
    order = np.lexsort((words[:, 0], words[:, 1]))
    ordered = words[order]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.cumsum(is_new) - 1
    return order[is_new].tolist(), numbers
