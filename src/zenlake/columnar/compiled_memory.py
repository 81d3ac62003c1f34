"""Loads and stores at addresses, for Numba. All numbers in kernels have 64 bits and a sign."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_I64 = ir.IntType(64)


def _pointer(builder: Any, args: Any, width: int) -> Any:
    """A pointer to the cell of a column in a row."""
    table, room, column, n = args[:4]
    begin = builder.add(table, builder.mul(column, room))
    address = builder.add(begin, builder.mul(n, ir.Constant(_I64, width)))
    return builder.inttoptr(address, ir.IntType(8 * width).as_pointer())


def _widened(builder: Any, value: Any, width: int) -> Any:
    return value if width == 8 else builder.zext(value, _I64)


def loader(width: int) -> Any:
    """`load(buf, pos)`: `width` bytes, not necessarily aligned."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(builder.add(*args), ir.IntType(8 * width).as_pointer())
        return _widened(builder, builder.load(pointer, align=1), width)

    @intrinsic
    def load(typing: Any, buf: Any, pos: Any) -> Any:
        return types.int64(types.int64, types.int64), codegen

    return load


def getter(width: int) -> Any:
    """`get(table, room, column, n)`: a cell of `width` bytes."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _widened(builder, builder.load(_pointer(builder, args, width)), width)

    @intrinsic
    def get(typing: Any, table: Any, room: Any, column: Any, n: Any) -> Any:
        return types.int64(*[types.int64] * 4), codegen

    return get


def putter(width: int) -> Any:
    """`put(table, room, column, n, value)`: the low bytes of the value."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(builder, args, width)
        value = args[4] if width == 8 else builder.trunc(args[4], ir.IntType(8 * width))
        builder.store(value, pointer)
        return context.get_dummy_value()

    @intrinsic
    def put(typing: Any, table: Any, room: Any, column: Any, n: Any, value: Any) -> Any:
        return types.void(*[types.int64] * 5), codegen

    return put
