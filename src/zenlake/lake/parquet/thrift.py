"""Thrift's compact protocol, in which Parquet files have their metadata.

Structs are read as numbered fields with types, and written again without knowing their meaning.
(Apache Thrift, doc/specs/thrift-compact-protocol.md)
"""

from __future__ import annotations

from typing import Any, Final

from zenlake.errors import LocalError

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT, UUID = range(1, 14)
_INTEGERS: Final = frozenset((I16, I32, I64))
_LONG_FORM: Final = 15
"""The value of the four bits of a size if the size follows as an integer."""
_DEPTH_MAX: Final = 16

Struct = dict[int, tuple[int, Any]]
"""Type and value, by the number of the field."""


class ThriftList(list[Any]):
    """Values of one type."""

    def __init__(self, type: int, values: list[Any]) -> None:
        super().__init__(values)
        self.type = type


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def struct(self, depth: int = 0) -> Struct:
        if depth > _DEPTH_MAX:
            raise LocalError("metadata of a Parquet file is nested too deeply")
        found: Struct = {}
        number = 0
        while (head := self._byte()) != 0:
            number = number + (head >> 4) if head >> 4 else self._integer()
            type = head & 15
            found[number] = (type, self._value(type, depth))
        return found

    def _value(self, type: int, depth: int) -> Any:
        if type in (TRUE, FALSE):
            return type == TRUE
        if type in _INTEGERS:
            return self._integer()
        if type == BINARY:
            return self._bytes(self._size())
        if type == STRUCT:
            return self.struct(depth + 1)
        if type in (LIST, SET):
            head = self._byte()
            count = self._size() if head >> 4 == _LONG_FORM else head >> 4
            element = head & 15
            # A boolean in a list is a byte, not a type.
            read = self._byte if element in (TRUE, FALSE, BYTE) else None
            return ThriftList(
                element,
                [read() if read else self._value(element, depth + 1) for _ in range(count)],
            )
        if type == BYTE:
            return self._byte()
        if type == DOUBLE:
            return self._bytes(8)
        raise LocalError(f"metadata of a Parquet file has a field of the unknown type {type}")

    def _byte(self) -> int:
        return self._bytes(1)[0]

    def _bytes(self, size: int) -> bytes:
        found = self._data[self._at : self._at + size]
        if len(found) < size:
            raise LocalError("metadata of a Parquet file is cut off")
        self._at += size
        return found

    def _size(self) -> int:
        found = shift = 0
        while True:
            byte = self._byte()
            found |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return found

    def _integer(self) -> int:
        """Zigzag: 0, -1, 1, -2."""
        found = self._size()
        return found >> 1 ^ -(found & 1)


def read_struct(data: bytes) -> Struct:
    return _Reader(data).struct()


def write_struct(struct: Struct) -> bytes:
    out = bytearray()
    _write_struct(out, struct)
    return bytes(out)


def _write_struct(out: bytearray, struct: Struct) -> None:
    before = 0
    for number, (type, value) in sorted(struct.items()):
        kind = (TRUE if value else FALSE) if type in (TRUE, FALSE) else type
        if 0 < number - before < 16:
            out.append((number - before) << 4 | kind)
        else:
            out.append(kind)
            _write_integer(out, number)
        before = number
        if type not in (TRUE, FALSE):
            _write_value(out, type, value)
    out.append(0)


def _write_value(out: bytearray, type: int, value: Any) -> None:
    if type in _INTEGERS:
        _write_integer(out, value)
    elif type == BINARY:
        _write_size(out, len(value))
        out += value
    elif type == STRUCT:
        _write_struct(out, value)
    elif type in (LIST, SET):
        if len(value) < _LONG_FORM:
            out.append(len(value) << 4 | value.type)
        else:
            out.append(_LONG_FORM << 4 | value.type)
            _write_size(out, len(value))
        for one in value:
            _write_value(out, BYTE if value.type in (TRUE, FALSE) else value.type, one)
    elif type == BYTE:
        out.append(value)
    else:
        out += value


def _write_size(out: bytearray, size: int) -> None:
    while size > 127:
        out.append(size & 127 | 128)
        size >>= 7
    out.append(size)


def _write_integer(out: bytearray, value: int) -> None:
    _write_size(out, value << 1 ^ value >> 63)
