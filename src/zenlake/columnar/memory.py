"""How kernels reach memory: a byte of the buffer, a cell of the table.

In compiled code, buffer and table are addresses: an array would be passed as seven values and
reference-counted at every use, which took most of the time. There are no checks, so every kernel
compares its position with the end before it reads, and its row with the room before it writes. In
plain Python they are objects that check bounds, and the tests run both.

A table has `room` rows. Its columns are stored one after another: a column at offset `column` in a
table of one row begins at `column * room`.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from zenlake.columnar.jit import IS_COMPILED

if TYPE_CHECKING:
    from collections.abc import Callable

    Buffer = Any
    Table = Any
    Numbers = Any
    Get = Callable[[Table, int, int, int], int]
    Put = Callable[[Table, int, int, int, int], None]


def handle_of(array: Any) -> Any:
    """The handle of an array of bytes for kernels, valid as long as the array exists."""
    return array.ctypes.data if IS_COMPILED else array.data


if IS_COMPILED:
    from zenlake.columnar.compiled_memory import getter, loader, putter

    load: Callable[[Buffer, int], int] = loader(1)
    load_eight: Callable[[Buffer, int], int] = loader(8)
    get_small: Get = getter(1)
    get_word: Get = getter(4)
    get_long: Get = getter(8)
    put_small: Put = putter(1)
    put_word: Put = putter(4)
    put_long: Put = putter(8)
else:

    def load(buf: Buffer, pos: int) -> int:
        """One byte of the buffer."""
        if pos < 0:
            raise IndexError(pos)
        byte: int = buf[pos]
        return byte

    def load_eight(buf: Buffer, pos: int) -> int:
        """Eight bytes as one number; equal bytes have equal numbers."""
        if not 0 <= pos <= len(buf) - 8:
            raise IndexError(pos)
        return int.from_bytes(buf[pos : pos + 8], "little")

    def _getter(width: int, format: str) -> Get:
        def get(table: Table, room: int, column: int, n: int) -> int:
            _check(room, n)
            value: int = struct.unpack_from(format, table, column * room + n * width)[0]
            return value

        return get

    def _putter(width: int, format: str) -> Put:
        def put(table: Table, room: int, column: int, n: int, value: int) -> None:
            _check(room, n)
            struct.pack_into(format, table, column * room + n * width, value)

        return put

    def _check(room: int, n: int) -> None:
        if not 0 <= n < room:
            raise IndexError(n)

    get_small, put_small = _getter(1, "=B"), _putter(1, "=B")
    get_word, put_word = _getter(4, "=I"), _putter(4, "=I")
    get_long, put_long = _getter(8, "=Q"), _putter(8, "=Q")
