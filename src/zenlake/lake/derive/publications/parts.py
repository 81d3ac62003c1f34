"""Parts: columns of numbers, divided by a number of each row; on the disk if there are several.

A part must fit into memory. Rows of equal values are in the same part: a value that was published
millions of times needs memory for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

PARTS_MAX: Final = 256


class Parts:
    """`add` divides rows by their number modulo `count`."""

    def __init__(self, folder: Path, count: int, types: Sequence[type[np.generic]]) -> None:
        self.count = count
        self._folder = folder
        self._types = types
        self._rows: list[Sequence[NDArray[Any]]] = []

    def add(self, columns: Sequence[NDArray[Any]], number: NDArray[np.int64]) -> None:
        if self.count == 1:
            self._rows.append(columns)
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        part = number % self.count
        order = np.argsort(part, kind="stable")
        bounds = np.searchsorted(part[order], np.arange(self.count + 1))
        for place, column in enumerate(columns):
            ordered = column[order]
            for one in np.flatnonzero(bounds[1:] > bounds[:-1]).tolist():
                with open(self._file(one, place), "ab") as file:
                    ordered[bounds[one] : bounds[one + 1]].tofile(file)

    def __iter__(self) -> Iterator[list[NDArray[Any]]]:
        """The columns of each part; a part can be read once."""
        if self.count == 1:
            rows, self._rows = self._rows, []
            yield [
                np.concatenate([np.zeros(0, kind), *(columns[place] for columns in rows)])
                for place, kind in enumerate(self._types)
            ]
            return
        for part in range(self.count):
            yield [self._read(part, place, kind) for place, kind in enumerate(self._types)]

    def _read(self, part: int, place: int, kind: type[np.generic]) -> NDArray[Any]:
        file = self._file(part, place)
        if not file.exists():
            return np.zeros(0, kind)
        # Mapped, so that the pages are file cache, which the system can drop.
        found: NDArray[Any] = np.memmap(file, kind, "r")
        file.unlink()
        return found

    def _file(self, part: int, place: int) -> Path:
        return self._folder / f"{part}-{place}"
