"""Identities: the nodes that each pair connects, from its INITs, and which nodes share links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from zenlake.lake.fast_reader.regularity.regularity_kernel import STAGE, ZIDS
from zenlake.wire.values.zenoh_id import ZID_BYTES_MAX

if TYPE_CHECKING:
    from numpy.typing import NDArray

UDP_LINKS: Final = -1
"""In place of the number of a pair: an INIT over UDP."""
_UNKNOWN: Final = -1


def inits_of_handshakes(sessions: NDArray[np.int64]) -> NDArray[np.int64]:
    """INITs of the checked handshakes, as rows like those of `CapturePass.init_rows`."""
    pairs, roles = np.nonzero(np.arange(2) < sessions[:, STAGE, None])
    words = sessions[:, ZIDS : ZIDS + 4].reshape(-1, 2)[2 * pairs + roles]
    return np.column_stack((pairs, roles, words))


class Identities:
    """For each INIT its pair, its role and the number of its node.

    The role is 0 for the node that opened, 1 for the one that accepted.
    """

    def __init__(self, init_rows: NDArray[np.int64], count: int) -> None:
        """From rows of INITs, the most trusted first; `count` is the number of pairs."""
        raw = np.ascontiguousarray(init_rows[:, 2:]).view(np.uint8).reshape(-1, ZID_BYTES_MAX)
        rows, self._node = _numbered(raw)
        texts = [format(int.from_bytes(raw[row].tobytes(), "little"), "x") for row in rows]
        self._texts = np.array([*texts, ""], "<U32")
        self._pair, self._role = init_rows[:, 0], init_rows[:, 1]
        self._first = np.full((count, 2), _UNKNOWN, np.int64)
        is_tcp = self._pair != UDP_LINKS
        # The first INIT counts. NumPy keeps the last of several assignments to one cell.
        cells = tuple(column[is_tcp][::-1] for column in (self._pair, self._role))
        self._first[cells] = self._node[is_tcp][::-1]
        self.zids: NDArray[np.str_] = self._texts[self._first]
        """The first identities seen of each pair, by role; empty where none was seen."""

    def elsewhere(self) -> NDArray[np.str_]:
        """Nodes seen over UDP, or on pairs with several sessions: it is not known when."""
        is_tcp = self._pair != UDP_LINKS
        pair, role, node = self._pair[is_tcp], self._role[is_tcp], self._node[is_tcp]
        several = pair[node != self._first[pair, role]]
        nodes = np.unique(self._node[~is_tcp | np.isin(self._pair, several)])
        found: NDArray[np.str_] = self._texts[nodes]
        return found


def pairs_sharing_nodes(
    zids: NDArray[np.str_],
    elsewhere: NDArray[np.str_],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Pairs during whose lifetime another pair connects the same nodes (§14)."""
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
    """A row for each number, and the number of each row: equal rows have the same number."""
    words = raw.view("<u8")
    order = np.lexsort((words[:, 0], words[:, 1]))
    ordered = words[order]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.cumsum(is_new) - 1
    return order[is_new].tolist(), numbers
