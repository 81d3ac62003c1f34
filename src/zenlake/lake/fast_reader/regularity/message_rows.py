"""MessageRows: the messages of many batches, decoded a few thousand at a time into reused memory.

`columnar.decode` returns all rows at once, in fresh memory. The regularity check keeps no rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from zenlake.columnar.fields import STRETCHES, columns, fields, presence_bits
from zenlake.columnar.jit import IS_COMPILED
from zenlake.columnar.memory import handle_of
from zenlake.columnar.table import Table
from zenlake.lake.fast_reader.regularity.regularity_kernel import Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS_AT_ONCE: Final = 4_096
"""So many stay in the processor's cache. A batch with more messages gets a larger table."""


class MessageRows:
    """Decodes one group of batches after the other."""

    def __init__(self) -> None:
        self._set_table(Table(ROWS_AT_ONCE))

    def _set_table(self, table: Table) -> None:
        self._table = table
        self._rows = Rows(*(table.column(name) for name in Rows._fields))
        self._stretches: list[list[NDArray[Any]]] = []
        self._fields: list[tuple[int, list[NDArray[Any]]]] = []
        of_every_row = dict.fromkeys(columns())
        for name, one in fields().items():
            cells = [table.column(column) for _, column in one.columns]
            for _, column in one.columns:
                of_every_row.pop(column, None)
            if one.shape in STRETCHES:
                self._stretches.append(cells)
            else:
                self._fields.append((presence_bits()[name], cells))
        self._of_every_row = [table.column(name) for name in of_every_row]

    def read(
        self,
        data: NDArray[np.uint8],
        bounds: NDArray[np.int64],
        forms: NDArray[np.uint8],
        failures: NDArray[np.int64],
    ) -> Iterator[Rows]:
        """Rows of whole batches. The next ones overwrite them."""
        from zenlake.columnar._generated.kernels import decode_units

        units, unit = len(bounds) - 1, 0
        starts: Any = bounds if IS_COMPILED else bounds.tolist()
        kinds: Any = forms if IS_COMPILED else forms.tolist()
        while unit < units:
            table = self._table
            unit, rows = decode_units(
                handle_of(data), starts, kinds, unit, table.handle(), table.room, 0, failures
            )
            if unit < units and not rows:
                self._set_table(Table(2 * table.room))
                continue
            cells: Iterator[Any] = (column[:rows] for column in self._rows)
            yield Rows(*cells)
            self._clear(rows)

    def _clear(self, rows: int) -> None:
        """Sets used columns to zero, as fresh memory is; most columns were not written."""
        present = int(np.bitwise_or.reduce(self._rows.present[:rows]))
        for bit, cells in self._fields:
            if present & bit:
                for column in cells:
                    column[:rows] = 0
        for cells in self._stretches:
            if cells[0][:rows].any():
                for column in cells:
                    column[:rows] = 0
        for column in self._of_every_row:
            column[:rows] = 0
