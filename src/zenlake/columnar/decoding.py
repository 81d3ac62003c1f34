"""Many units at once into columns: one row for each message of any layer, in order.

    columns = decode(buffer, bounds)
    columns["payload_offset"], columns.present("payload"), columns.kind_words()

`buffer` holds the units back to back: batches without their length, decompressed. Unit `i` is
`buffer[bounds[i]:bounds[i + 1]]`. FRAME is a row too, and its messages follow it. Rows and failures
are exactly those of the scalar decoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from zenlake.columnar.columns import Columns
from zenlake.columnar.forms import BATCH, NETWORK
from zenlake.columnar.jit import IS_COMPILED
from zenlake.columnar.memory import handle_of
from zenlake.columnar.table import Table
from zenlake.errors import LocalError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = bytes | bytearray | memoryview | NDArray[np.uint8]
    Forms = int | Sequence[int] | NDArray[np.uint8]

BUFFER_BYTES_MAX: Final = 0x7FFF_FFFF
"""Offsets have 32 bits, and Arrow's have a sign."""

_FIRST_ROWS: Final = 4_096
"""The size of the first table; its rows are used to estimate the total number."""


def decode(
    buffer: Bytes, bounds: Sequence[int] | NDArray[np.int64], forms: Forms = BATCH
) -> Columns:
    """Decode all units; `forms` is the form of each unit, or one form for all."""
    from zenlake.columnar._generated.kernels import decode_units

    data, limits = _bytes_of(buffer), _bounds_of(bounds)
    _check(data, limits)
    units = len(limits) - 1
    unit_forms = _forms_of(forms, units)
    failures = np.zeros(units, np.int64)
    buf: Any = handle_of(data)
    starts: Any = limits if IS_COMPILED else limits.tolist()  # numbers that never overflow
    kinds: Any = unit_forms if IS_COMPILED else unit_forms.tolist()
    table = Table(_FIRST_ROWS)
    unit, rows = 0, 0
    while True:
        unit, rows = decode_units(
            buf, starts, kinds, unit, table.handle(), table.room, rows, failures
        )
        if unit == units:
            return Columns(data, limits, unit_forms, table, rows, failures)
        table = table.grown(rows, _likely_rows(limits, unit, rows, table.room))


def _likely_rows(bounds: NDArray[np.int64], unit: int, rows: int, room: int) -> int:
    """An estimate from the rows so far, plus half: unused rows cost nothing, but growing does.

    It is at least twice the present room.
    """
    read, whole = int(bounds[unit] - bounds[0]), int(bounds[-1] - bounds[0])
    likely = rows * whole // read if read else 0
    return max(likely + likely // 2, 2 * room)


def _bytes_of(buffer: Bytes) -> NDArray[np.uint8]:
    data = np.frombuffer(buffer, np.uint8)
    data.flags.writeable = False
    return data


def _bounds_of(bounds: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    return np.array(bounds, np.int64) if len(bounds) else np.zeros(1, np.int64)


def _forms_of(forms: Forms, units: int) -> NDArray[np.uint8]:
    found = np.empty(units, np.uint8)
    found[:] = forms
    if units and int(found.max()) > NETWORK:
        raise LocalError(f"there is no form {int(found.max())} of units")
    return found


def _check(data: NDArray[np.uint8], bounds: NDArray[np.int64]) -> None:
    """Kernels do not check bounds, so these must lie in the buffer."""
    if len(data) > BUFFER_BYTES_MAX:
        raise LocalError(f"{len(data)} bytes at once, at most {BUFFER_BYTES_MAX} are possible")
    if bounds[0] < 0 or bounds[-1] > len(data) or bool((bounds[1:] < bounds[:-1]).any()):
        raise LocalError(f"bounds must ascend within the {len(data)} bytes of the buffer")
