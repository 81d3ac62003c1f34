"""Numbers of a certain width, for serialization: `Int8` to `UInt128`, `Float32`, `Float64`."""

from __future__ import annotations

from typing import Any, ClassVar, Self


class _Sized(int):
    """An int that is checked when it is made, by an assertion as in eclipse-zenoh."""

    __slots__ = ()
    WIDTH: ClassVar[int]
    SIGNED: ClassVar[bool]

    def __new__(cls, i: Any) -> Self:
        bits = cls.WIDTH * 8
        least = -(1 << bits - 1) if cls.SIGNED else 0
        assert least <= i < least + (1 << bits), f"{i} too big for {cls.__name__}"
        return int.__new__(cls, i)


class Int8(_Sized):
    """8 bits, signed."""

    WIDTH, SIGNED = 1, True


class Int16(_Sized):
    """16 bits, signed."""

    WIDTH, SIGNED = 2, True


class Int32(_Sized):
    """32 bits, signed; what a plain `int` is serialized as."""

    WIDTH, SIGNED = 4, True


class Int64(_Sized):
    """64 bits, signed."""

    WIDTH, SIGNED = 8, True


class Int128(_Sized):
    """128 bits, signed."""

    WIDTH, SIGNED = 16, True


class UInt8(_Sized):
    """8 bits, not negative."""

    WIDTH, SIGNED = 1, False


class UInt16(_Sized):
    """16 bits, not negative."""

    WIDTH, SIGNED = 2, False


class UInt32(_Sized):
    """32 bits, not negative."""

    WIDTH, SIGNED = 4, False


class UInt64(_Sized):
    """64 bits, not negative."""

    WIDTH, SIGNED = 8, False


class UInt128(_Sized):
    """128 bits, not negative."""

    WIDTH, SIGNED = 16, False


class Float32(float):
    """32 bits: rounded when it is serialized."""


class Float64(float):
    """64 bits; what a plain `float` is serialized as."""


SIZED_INTEGERS = (Int8, Int16, Int32, Int64, Int128, UInt8, UInt16, UInt32, UInt64, UInt128)
