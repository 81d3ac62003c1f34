"""Identities: which nodes each pair connects, as its INITs say, and which share several links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from zenlake.lake.plan.survey.regularity_kernel import STAGE, ZIDS
from zenlake.wire.values.zenoh_id import ZID_BYTES_MAX

if TYPE_CHECKING:
    from numpy.typing import NDArray

UDP_LINKS: Final = -1
"""In the place of a pair: all that was seen outside TCP."""
_UNKNOWN: Final = -1


def followed(talks: NDArray[np.int64]) -> NDArray[np.int64]:
    """INITs of the handshakes that were followed, as `assemble_kernel` has sightings."""
    pairs, roles = np.nonzero(np.arange(2) < talks[:, STAGE, None])
    words = talks[:, ZIDS : ZIDS + 4].reshape(-1, 2)[2 * pairs + roles]
    return np.column_stack((pairs, roles, words))


class Identities:
    """Nodes are numbered; for each INIT that was seen, its pair, its role and its node.

    The role is 0 of the node that opened, 1 of the one that answered.
    """

    def __init__(self, sightings: NDArray[np.int64], count: int) -> None:
        """From INITs, those first that are to be believed; there are so many pairs."""
        raw = np.ascontiguousarray(sightings[:, 2:]).view(np.uint8).reshape(-1, ZID_BYTES_MAX)
        rows, self._node = _numbered(raw)
        texts = [format(int.from_bytes(raw[row].tobytes(), "little"), "x") for row in rows]
        self._texts = np.array([*texts, ""], "<U32")
        self._pair, self._role = sightings[:, 0], sightings[:, 1]
        self._first = np.full((count, 2), _UNKNOWN, np.int64)
        is_tcp = self._pair != UDP_LINKS
        # Of several the first: what is assigned last stays.
        cells = tuple(column[is_tcp][::-1] for column in (self._pair, self._role))
        self._first[cells] = self._node[is_tcp][::-1]
        self.zids: NDArray[np.str_] = self._texts[self._first]
        """Of each pair, the first ones seen; empty where none was."""

    def elsewhere(self) -> NDArray[np.str_]:
        """Nodes that were met over UDP, or on pairs that had several sessions: who knows when."""
        is_tcp = self._pair != UDP_LINKS
        pair, role, node = self._pair[is_tcp], self._role[is_tcp], self._node[is_tcp]
        several = pair[node != self._first[pair, role]]
        nodes = np.unique(self._node[~is_tcp | np.isin(self._pair, several)])
        found: NDArray[np.str_] = self._texts[nodes]
        return found


def sharing(
    zids: NDArray[np.str_],
    elsewhere: NDArray[np.str_],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Pairs of which another one connects the same nodes while they live (§14)."""
    is_elsewhere = np.isin(zids, elsewhere)
    found = is_elsewhere[:, 0] & is_elsewhere[:, 1]
    pairs = np.flatnonzero((zids != "").all(axis=1))
    _, numbers = np.unique(zids[pairs], return_inverse=True)
    one, other = numbers.reshape(-1, 2).T
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
