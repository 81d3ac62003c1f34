"""Columns: the result of `decode`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zenlake.columnar.causes import CAUSES
from zenlake.columnar.failures import Failure, failure_of
from zenlake.columnar.fields import STRETCHES, fields, presence_bits
from zenlake.columnar.forms import BATCH, LOW_LATENCY, SCOUTING
from zenlake.columnar.kinds import kinds
from zenlake.columnar.memory import handle_of
from zenlake.errors import WireError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zenlake.columnar.table import Table


class Columns:
    """One row for each message, in the order of units. Offsets count from the buffer's start.

    Every row has `unit`, `kind`, `offset`, `length` and `unknown_extensions` (a count); `fields`
    defines the others. A value is 0 and has no meaning if `present` is false. Messages in a FRAME
    have the `sn`, `reliable` and `priority` of the FRAME.
    """

    __slots__ = ("_present_in_any", "_table", "bounds", "data", "failures", "forms", "rows")

    def __init__(
        self,
        data: NDArray[np.uint8],
        bounds: NDArray[np.int64],
        forms: NDArray[np.uint8],
        table: Table,
        rows: int,
        failures: NDArray[np.int64],
    ) -> None:
        self.data = data
        self.bounds = bounds
        self.forms = forms
        self.rows = rows
        self.failures = failures
        """For each unit 0, or a number that `failure` decodes."""
        self._table = table
        self._present_in_any: int | None = None

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, name: str) -> NDArray[Any]:
        """A column by its name, such as `payload_offset`; a view, not a copy."""
        return self._table.column(name)[: self.rows]

    def present(self, field: str) -> NDArray[np.bool_]:
        """Which rows have a field, such as `payload` or `key`."""
        if fields()[field].shape in STRETCHES:
            found: NDArray[np.bool_] = self[f"{field}_offset"] != 0
        else:
            found = self["present"] & np.uint64(presence_bits()[field]) != 0
        return found

    def has_any(self, field: str) -> bool:
        """Whether any row has a field; faster than `present`."""
        if fields()[field].shape in STRETCHES:
            return bool(self[f"{field}_offset"].any())
        if self._present_in_any is None:
            self._present_in_any = int(np.bitwise_or.reduce(self["present"], initial=0))
        return self._present_in_any & presence_bits()[field] != 0

    def handles(self) -> tuple[Any, Any, int]:
        """Handles of buffer and table, and its room; valid as long as this object exists."""
        return handle_of(self.data), self._table.handle(), self._table.room

    def kind_words(self) -> list[str]:
        return [kinds()[code] for code in self["kind"]]

    def bytes_of(self, field: str, row: int) -> bytes | None:
        """The bytes of a field in one row, such as its payload."""
        start, size = int(self[f"{field}_offset"][row]), int(self[f"{field}_length"][row])
        return self.data[start : start + size].tobytes() if start else None

    # --- failures -----------------------------------------------------------------------------

    def failure(self, unit: int) -> Failure | None:
        """Where and why decoding of a unit failed; None if it was decoded to its end."""
        number = int(self.failures[unit])
        return failure_of(number, int(self.bounds[unit])) if number else None

    def error(self, unit: int) -> WireError | None:
        """The failure as a WireError, without the values that `exact_error` has in its text."""
        from zenlake.columnar._generated.kernels import PLACES

        failure = self.failure(unit)
        if failure is None:
            return None
        message, field = PLACES[failure.place]
        return WireError(message, field, failure.offset, CAUSES[failure.cause])

    def exact_error(self, unit: int) -> WireError | None:
        """The error of the scalar decoder, which decodes the unit again."""
        if not self.failures[unit]:
            return None
        content = self.data[self.bounds[unit] : self.bounds[unit + 1]].tobytes()
        return scalar_error(content, int(self.forms[unit]))


def scalar_error(content: bytes, form: int) -> WireError | None:
    from zenlake.wire import decode_network, decode_scouting
    from zenlake.wire.batch import decode_batch, decode_low_latency

    if form == BATCH:
        return decode_batch(content).error
    if form == LOW_LATENCY:
        return decode_low_latency(content).error
    try:
        if form == SCOUTING:
            decode_scouting(content, 0)
        else:
            decode_network(content, 0)
    except WireError as error:
        return error
    return None
