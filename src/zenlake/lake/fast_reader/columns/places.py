"""Places: names of links, sessions and nodes for many rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from zenlake.lake.fast_reader import Survey
from zenlake.lake.fast_reader.columns.values import coded, constant


class Places:
    """The connections of some rows.

    Each is the only link of its session, which has the same name; direction 0 opened it.
    """

    __slots__ = ("_links", "_names", "_zid_texts", "_zids", "capture")

    def __init__(self, capture: str, pairs: NDArray[np.int32], survey: Survey) -> None:
        self.capture = capture
        different = np.unique(pairs)
        self._links = np.full(len(survey), -1, np.int32)
        self._links[different] = np.arange(len(different))
        self._names = [survey.link_name(pair) for pair in different.tolist()]
        texts, codes = np.unique(survey.zids[different], return_inverse=True)
        self._zid_texts: list[str] = texts.tolist()
        by_pair = np.full((len(survey), 2), -1, np.int32)
        by_pair[different] = codes.reshape(-1, 2)
        self._zids: NDArray[np.int32] = by_pair.reshape(-1)

    def columns_of(self, pair: NDArray[np.int32]) -> dict[str, pa.Array]:
        name = coded(self._links[pair], self._names)
        return {"capture": constant(self.capture, len(pair)), "session": name, "link": name}

    def zids(self, owner: NDArray[np.int64]) -> pa.Array:
        """Identities of the senders of these directions."""
        return coded(self._zids[owner], self._zid_texts)
