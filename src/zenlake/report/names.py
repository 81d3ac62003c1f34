"""Names: numbers for keys, nodes and captures, so that a page contains each name once."""

from __future__ import annotations

from typing import Any, Final

from zenlake.report.bounds import KEY_CHARACTERS_MAX, NODES_MAX, PAIRS_LOOKED_AT_MAX
from zenlake.report.database import Database
from zenlake.report.text import cut

OTHER: Final = -1
"""A key or node that is not listed."""
NONE: Final = -2
"""A message without a key, or a node whose id is unknown."""


class Names:
    """Assigns numbers on request; the most frequent names are requested first."""

    def __init__(self, database: Database) -> None:
        self._keys: dict[str, int] = {}
        self._captures: dict[str, int] = {}
        self._roles = dict(database.rows("SELECT zid, any_value(role) FROM nodes GROUP BY zid"))
        ranked = _ranked_nodes(database)
        self.nodes_in_all = len(ranked)
        self._nodes = {zid: number for number, zid in enumerate(ranked[:NODES_MAX])}
        self.nodes_ranked = len(self._nodes)
        database.keep("node_ids", "zid VARCHAR, id INTEGER", list(self._nodes.items()))

    def key(self, key: str | None) -> int:
        return NONE if key is None else self._keys.setdefault(key, len(self._keys))

    def key_among(self, key: str | None, keys_max: int) -> int:
        """The number of a key that is listed already, or for which there is room; else OTHER."""
        if key is not None and key not in self._keys and len(self._keys) >= keys_max:
            return OTHER
        return self.key(key)

    def node(self, zid: str | None) -> int:
        """The number of a node in rows that a page lists one by one."""
        return NONE if zid is None else self._nodes.setdefault(zid, len(self._nodes))

    def ranked_node(self, zid: str | None) -> int:
        """The number of a node in sums over many rows; OTHER for all but the most frequent."""
        if zid is None:
            return NONE
        number = self._nodes.get(zid, OTHER)
        return number if number < self.nodes_ranked else OTHER

    def capture(self, path: str) -> int:
        return self._captures.setdefault(path, len(self._captures))

    def to_json(self) -> dict[str, Any]:
        """Long keys are cut; their numbers are in `cut`."""
        keys = list(self._keys)
        return {
            "keys": [key[:KEY_CHARACTERS_MAX] for key in keys],
            "cut": [number for number, key in enumerate(keys) if len(key) > KEY_CHARACTERS_MAX],
            "nodes": [[zid, cut(self._roles.get(zid))] for zid in self._nodes],
            "nodesInAll": self.nodes_in_all,
            "nodesRanked": self.nodes_ranked,
            "captures": list(map(cut, self._captures)),
        }


def _ranked_nodes(database: Database) -> list[str]:
    """The node with the most messages and its neighbours, then the next one.

    This order keeps the drawn part of a large network connected.
    """
    pairs = database.rows(f"""
        SELECT sender_zid, receiver_zid, count(*) AS messages FROM chosen_messages
        GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT {PAIRS_LOOKED_AT_MAX}""")
    seen = [zid for (zid,) in database.rows("SELECT DISTINCT zid FROM chosen_nodes ORDER BY 1")]
    sums, neighbours = dict.fromkeys(seen, 0), {zid: dict[str, None]() for zid in seen}
    for sender, receiver, messages in pairs:
        for zid, other in ((sender, receiver), (receiver, sender)):
            if zid in sums:
                sums[zid] += messages
                if other in sums:
                    neighbours[zid][other] = None
    chosen = database.selection
    if chosen.is_by_message:
        sums = {zid: number for zid, number in sums.items() if number or zid == chosen.node}
    ranked: dict[str, None] = {}
    for zid in sorted(sums, key=lambda zid: (zid != chosen.node, -sums[zid], zid)):
        ranked |= {zid: None, **{one: None for one in neighbours[zid] if one in sums}}
    return list(ranked)
