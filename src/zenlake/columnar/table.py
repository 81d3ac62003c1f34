"""Table: the memory that kernels write to, column by column."""

from __future__ import annotations

from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from zenlake.columnar.fields import columns, row_bytes
from zenlake.columnar.memory import handle_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TYPES: Final = {1: np.uint8, 4: np.uint32, 8: np.uint64}

_STAGGER: Final = 80
"""Prevents that the cells of one row share a cache set."""


class Table:
    """Memory for rows. New rows are zero, and use no memory before they are written."""

    __slots__ = ("_memory", "room")

    def __init__(self, rows: int) -> None:
        self.room = (rows + 1023) // 1024 * 1024 + _STAGGER
        # Not `np.zeros`: it requests huge pages, and each column would clear some of them.
        # Private: pages of shared memory cost twice the time to get.
        memory = mmap(-1, self.room * row_bytes(), MAP_PRIVATE | MAP_ANONYMOUS)
        self._memory = np.frombuffer(memory, np.uint8)

    def column(self, name: str) -> NDArray[Any]:
        """A view of all cells of a column."""
        begin, width = columns()[name]
        cells = self._memory[begin * self.room : (begin + width) * self.room]
        return cells.view(_TYPES[width])

    def handle(self) -> Any:
        """The handle for kernels, valid as long as the table exists."""
        return handle_of(self._memory)

    def grown(self, rows: int, room: int) -> Table:
        """The same rows in a larger table; columns that are all zero still use no memory."""
        new = Table(room)
        for name in columns():
            cells = self.column(name)[:rows]
            if cells.any():
                new.column(name)[:rows] = cells
        return new
