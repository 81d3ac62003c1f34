"""The base classes of generated messages, and unknown extensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from zenlake._mypyc import mypyc_attr
from zenlake.errors import LocalError
from zenlake.limits import EXTENSIONS_PER_MESSAGE_MAX
from zenlake.wire.primitives import (
    Z32_MAX,
    Malformed,
    read_bytes,
    read_z64,
    write_bytes_z32,
    write_z64,
)
from zenlake.wire.writer import BytesWriter

if TYPE_CHECKING:
    from mypy_extensions import i64

_UNIT: Final = 0x00
_Z64: Final = 0x20
_ZBUF: Final = 0x40
_ENC: Final = 0x60
_MANDATORY: Final = 0x10


@mypyc_attr(acyclic=True)
class Message:
    """A message or a structure inside one. By convention it is not changed after construction."""

    __slots__ = ()

    NAME: ClassVar[str] = ""
    FIELDS: ClassVar[tuple[str, ...]] = ()

    def encode(self, out: BytesWriter) -> None:
        raise NotImplementedError

    def copy(self) -> Message:
        """A copy with all fields and unknown extensions, which a node may change and forward."""
        raise NotImplementedError

    def __bytes__(self) -> bytes:
        out = BytesWriter()
        self.encode(out)
        return out.getvalue()

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        return all(getattr(self, name) == getattr(other, name) for name in self.FIELDS)

    def __hash__(self) -> int:
        return hash(tuple(_hashable(getattr(self, name)) for name in self.FIELDS))

    def __repr__(self) -> str:
        """Attributes that are absent are left out."""
        values = [(name, getattr(self, name)) for name in self.FIELDS]
        shown = [
            f"{name}={value!r}"
            for name, value in values
            if value is not None and value is not False and value != ()
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


@mypyc_attr(acyclic=True)
class Structure(Message):
    """A part of messages that has no header of its own."""

    __slots__ = ()


@mypyc_attr(acyclic=True)
class ScoutingMessage(Message):
    __slots__ = ()


@mypyc_attr(acyclic=True)
class TransportMessage(Message):
    __slots__ = ()


@mypyc_attr(acyclic=True)
class NetworkMessage(Message):
    __slots__ = ()


@mypyc_attr(acyclic=True)
class DataMessage(Message):
    __slots__ = ()


@mypyc_attr(acyclic=True)
class Declaration(Message):
    __slots__ = ()


@mypyc_attr(acyclic=True)
class Extension:
    """An extension that its message does not define: kept unchanged and encoded again.

    `header` is its header byte without Z; `body` is None, a number or bytes, depending on ENC.
    """

    __slots__ = ("body", "header")

    def __init__(self, header: int, body: int | bytes | None = None) -> None:
        enc = header & _ENC
        fits = (
            (enc == _UNIT and body is None)
            or (enc == _Z64 and isinstance(body, int))
            or (enc == _ZBUF and isinstance(body, bytes))
        )
        if not 0 <= header < 0x80 or not fits:
            raise LocalError(f"extension header {header:#04x} does not go with {body!r}")
        self.header = header
        self.body = body

    @property
    def id(self) -> int:
        return self.header & 0x0F

    @property
    def mandatory(self) -> bool:
        return self.header & _MANDATORY != 0

    def __repr__(self) -> str:
        return f"Extension({self.header:#04x}, {self.body!r})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Extension) and self.header == other.header and self.body == other.body
        )

    def __hash__(self) -> int:
        return hash((self.header, self.body))


def read_extension(buf: bytes, pos: i64, end: i64, header: int) -> tuple[Extension, i64]:
    """The body of an extension whose header was read; any encoding but the reserved one."""
    kind = header & 0x7F
    enc = header & _ENC
    if enc == _UNIT:
        return Extension(kind), pos
    if enc == _Z64:
        number, pos = read_z64(buf, pos, end)
        return Extension(kind, number), pos
    if enc == _ZBUF:
        raw, pos = read_bytes(buf, pos, end, Z32_MAX)
        return Extension(kind, raw), pos
    raise Malformed(f"extension {header & 0x0F:#x} has the reserved encoding 0b11")


def read_unknown(buf: bytes, pos: i64, end: i64, header: int) -> tuple[Extension, i64]:
    """An extension its message does not define; a mandatory one makes the message unreadable."""
    if header & _MANDATORY and header & _ENC != _ENC:
        raise Malformed(f"unknown extension {header & 0x7F:#04x} is mandatory")
    return read_extension(buf, pos, end, header)


def too_many_extensions() -> Malformed:
    return Malformed(f"more than {EXTENSIONS_PER_MESSAGE_MAX} extensions")


def late_marker() -> Malformed:
    return Malformed("it must stand before the extension that it says lies in shared memory")


def too_many_to_send(count: int) -> LocalError:
    return LocalError(f"{count} extensions, at most {EXTENSIONS_PER_MESSAGE_MAX} may be sent")


def write_extension(out: BytesWriter, extension: Extension, more: bool) -> None:
    out.append(extension.header | 0x80 if more else extension.header)
    write_body(out, extension.body)


def write_unknown(out: BytesWriter, extensions: tuple[Extension, ...]) -> None:
    """The end of a chain: the extensions that the message does not define."""
    left = len(extensions)
    for extension in extensions:
        left -= 1
        write_extension(out, extension, left > 0)


def read_chain(buf: bytes, pos: i64, end: i64) -> tuple[tuple[Extension, ...], i64]:
    """A chain that is itself the content of an extension, such as INIT's Auth."""
    extensions: list[Extension] = []
    while True:
        if pos >= end:
            raise IndexError
        if len(extensions) == EXTENSIONS_PER_MESSAGE_MAX:
            raise too_many_extensions()
        header = buf[pos]
        extension, pos = read_extension(buf, pos + 1, end, header)
        extensions.append(extension)
        if header < 0x80:
            return tuple(extensions), pos


def write_chain(out: BytesWriter, extensions: tuple[Extension, ...]) -> None:
    if not extensions:
        raise LocalError("a chain of extensions cannot be empty: leave it out instead")
    if len(extensions) > EXTENSIONS_PER_MESSAGE_MAX:
        raise too_many_to_send(len(extensions))
    write_unknown(out, extensions)


def encoding_bits(body: int | bytes | None) -> int:
    """ENC in the header of OAM: what kind of body follows."""
    if body is None:
        return _UNIT
    return _ZBUF if isinstance(body, bytes) else _Z64


def write_body(out: BytesWriter, body: int | bytes | None) -> None:
    """The body of an extension or an OAM message."""
    if isinstance(body, bytes):
        write_bytes_z32(out, body)
    elif body is not None:
        write_z64(out, body)


def _hashable(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value
