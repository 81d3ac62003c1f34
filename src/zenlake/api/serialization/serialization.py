"""Python values as bytes in Zenoh's serialization format (behaviour reference §6.9).

Numbers are little-endian in their width, strings and collections begin with a LEB128 count,
tuples are their items back to back. The bytes do not contain their type: the caller passes it,
and it is turned into a reader before any byte is read.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any, Final, TypeVar, cast, get_args, get_origin

from zenlake.api.serialization.numbers import SIZED_INTEGERS, Float32, Float64
from zenlake.api.values.zbytes import ZBytes
from zenlake.errors import ZenlakeError
from zenlake.limits import DESERIALIZED_ITEMS_MAX

T = TypeVar("T")
_U64_MAX: Final = (1 << 64) - 1
_F32: Final = struct.Struct("<f")
_F64: Final = struct.Struct("<d")


class ZDeserializeError(ZenlakeError):
    """Bytes that are not a value of the type asked for."""


def z_serialize(obj: Any) -> ZBytes:
    """The bytes of a number, text, bytes, or a list, set, dict or tuple of these."""
    out = bytearray()
    _write(out, obj)
    return ZBytes.from_raw(bytes(out))


def z_deserialize(tp: type[T], zbytes: ZBytes) -> T:
    """The value of type `tp` in `zbytes`; collections need the type of items: `list[int]`."""
    read = _reader(tp)
    if not isinstance(zbytes, ZBytes):
        raise TypeError(f"expected ZBytes, not {type(zbytes).__name__}")
    source = _Source(zbytes.to_bytes())
    value = read(source)
    if source.at != len(source.raw):
        raise ZDeserializeError(f"{len(source.raw) - source.at} bytes follow the value")
    return cast(T, value)


# Writing


def _write(out: bytearray, value: Any) -> None:
    writer = _WRITERS.get(type(value))
    if writer is None:
        raise TypeError(f"type {type(value).__name__} is not supported")
    writer(out, value)


def _write_count(out: bytearray, count: int) -> None:
    while count > 0x7F:
        out.append(count & 0x7F | 0x80)
        count >>= 7
    out.append(count)


def _integer_writer(width: int, signed: bool) -> Callable[[bytearray, int], None]:
    def write(out: bytearray, value: int) -> None:
        out += value.to_bytes(width, "little", signed=signed)

    return write


def _write_f32(out: bytearray, value: float) -> None:
    try:
        out += _F32.pack(value)
    except OverflowError:
        out += _F32.pack(math.copysign(math.inf, value))


def _write_f64(out: bytearray, value: float) -> None:
    out += _F64.pack(value)


def _write_bool(out: bytearray, value: bool) -> None:
    out.append(value)


def _write_text(out: bytearray, value: str) -> None:
    _write_bytes(out, value.encode())


def _write_bytes(out: bytearray, value: Any) -> None:
    raw = bytes(value)
    _write_count(out, len(raw))
    out += raw


def _write_collection(out: bytearray, value: Any) -> None:
    _check_same(value)
    _write_count(out, len(value))
    for item in value:
        _write(out, item)


def _write_dict(out: bytearray, value: dict[Any, Any]) -> None:
    _check_same(value)
    _check_same(value.values())
    _write_count(out, len(value))
    for name, item in value.items():
        _write(out, name)
        _write(out, item)


def _check_same(items: Any) -> None:
    if len(set(map(type, items))) > 1:
        raise ValueError("all items of serialized collections must have the same type")


def _write_tuple(out: bytearray, value: tuple[Any, ...]) -> None:
    for item in value:
        _write(out, item)


_WRITERS: Final[dict[type, Callable[[bytearray, Any], None]]] = {
    **{tp: _integer_writer(tp.WIDTH, tp.SIGNED) for tp in SIZED_INTEGERS},
    int: _integer_writer(4, True),
    bool: _write_bool,
    Float32: _write_f32,
    Float64: _write_f64,
    float: _write_f64,
    str: _write_text,
    bytes: _write_bytes,
    bytearray: _write_bytes,
    ZBytes: _write_bytes,
    list: _write_collection,
    set: _write_collection,
    frozenset: _write_collection,
    dict: _write_dict,
    tuple: _write_tuple,
}


# Reading


class _Source:
    """Bytes and the position of the next read."""

    __slots__ = ("at", "free_items", "raw")

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.at = 0
        self.free_items = 0

    def read(self, size: int) -> bytes:
        start = self.at
        if size > len(self.raw) - start:
            raise ZDeserializeError(
                f"{size} bytes expected at byte {start}, {len(self.raw) - start} are left"
            )
        self.at = start + size
        return self.raw[start : self.at]

    def count(self) -> int:
        """LEB128; longer than needed is accepted, more than 64 bits is not."""
        number = shift = 0
        while True:
            byte = self.read(1)[0]
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
            if shift > 63:
                number = _U64_MAX + 1
                break
        if number > _U64_MAX:
            raise ZDeserializeError(f"a count of more than 64 bits before byte {self.at}")
        return number

    def items(self, read: _Reader) -> list[Any]:
        items = []
        for _ in range(self.count()):
            before = self.at
            items.append(read(self))
            if self.at == before:
                # Items of no bytes: only this bound keeps a count from using up all memory.
                self.free_items += 1
                if self.free_items > DESERIALIZED_ITEMS_MAX:
                    raise ZDeserializeError("too many items that take no bytes")
        return items


_Reader = Callable[[_Source], Any]


def _reader(tp: Any) -> _Reader:
    """The function that reads a value of this type."""
    origin, parameters = get_origin(tp), get_args(tp)
    if origin is None:
        if tp in (list, set, frozenset, dict, tuple):
            raise ValueError("collection types must be specialized with their generic parameter(s)")
        reader = _READERS.get(tp) if isinstance(tp, type) else None
        if reader is None:
            raise TypeError(f"type {getattr(tp, '__name__', tp)} is not supported")
        return reader
    if origin in (list, set, frozenset) and len(parameters) == 1:
        return _collection_reader(origin, _reader(parameters[0]))
    if origin is dict and len(parameters) == 2:
        return _dict_reader(_tuple_reader([_reader(each) for each in parameters]))
    if origin is tuple:
        if Ellipsis in parameters:
            raise TypeError("any size tuples are not supported")
        return _tuple_reader([_reader(each) for each in parameters])
    raise TypeError(f"type {tp} is not supported")


def _collection_reader(kind: type, read: _Reader) -> _Reader:
    return lambda source: kind(source.items(read))


def _dict_reader(read_pair: _Reader) -> _Reader:
    return lambda source: dict(source.items(read_pair))


def _tuple_reader(readers: list[_Reader]) -> _Reader:
    return lambda source: tuple([read(source) for read in readers])


def _integer_reader(tp: type[int], width: int, signed: bool) -> _Reader:
    return lambda source: tp(int.from_bytes(source.read(width), "little", signed=signed))


def _read_f32(source: _Source) -> Float32:
    return Float32(_F32.unpack(source.read(4))[0])


def _float_reader(tp: type[float]) -> _Reader:
    return lambda source: tp(_F64.unpack(source.read(8))[0])


def _read_bool(source: _Source) -> bool:
    byte = source.read(1)[0]
    if byte > 1:
        raise ZDeserializeError(f"byte {byte} is neither true nor false")
    return byte == 1


def _read_bytes(source: _Source) -> bytes:
    return source.read(source.count())


def _read_text(source: _Source) -> str:
    try:
        return _read_bytes(source).decode()
    except UnicodeDecodeError as error:
        raise ZDeserializeError(f"not UTF-8: {error.reason}") from None


_READERS: Final[dict[type, _Reader]] = {
    **{tp: _integer_reader(tp, tp.WIDTH, tp.SIGNED) for tp in SIZED_INTEGERS},
    int: _integer_reader(int, 4, True),
    bool: _read_bool,
    Float32: _read_f32,
    Float64: _float_reader(Float64),
    float: _float_reader(float),
    str: _read_text,
    bytes: _read_bytes,
    bytearray: lambda source: bytearray(_read_bytes(source)),
    ZBytes: lambda source: ZBytes.from_raw(_read_bytes(source)),
}
