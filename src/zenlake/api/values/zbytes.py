"""`ZBytes`: the bytes of a payload or an attachment."""

from __future__ import annotations

from typing import Any, final

from zenlake._mypyc import mypyc_attr
from zenlake.api.final_classes import no_subclasses

_Bytes = bytes  # an argument below has the name `bytes`


@final
@mypyc_attr(acyclic=True)
class ZBytes:
    """Bytes, or the UTF-8 of a text; immutable. Equals and hashes like its bytes."""

    __slots__ = ("_raw",)

    def __init__(self, bytes: bytearray | bytes | str | None = None) -> None:
        # Checked first: payloads from the wire have this type.
        if type(bytes) is _Bytes:
            self._raw = bytes
        else:
            self._raw = b"" if bytes is None else _bytes_of(bytes)

    @staticmethod
    def from_raw(raw: bytes) -> ZBytes:
        """A ZBytes of bytes that a message carried; they are not copied or checked."""
        return ZBytes(raw)

    def to_bytes(self) -> bytes:
        return self._raw

    def to_string(self) -> str:
        """The bytes read as UTF-8; `ValueError` if they are not."""
        return self._raw.decode()

    def as_shm(self) -> Any:
        """Always None: zenlake has no shared memory."""
        return None

    def __bool__(self) -> bool:
        return bool(self._raw)

    def __len__(self) -> int:
        return len(self._raw)

    def __bytes__(self) -> bytes:
        return self._raw

    def __str__(self) -> str:
        return self._raw.decode()

    def __repr__(self) -> str:
        return f"ZBytes({self._raw!r})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ZBytes):
            return self._raw == other._raw
        if isinstance(other, bytes | bytearray):
            return self._raw == other
        if isinstance(other, str):
            return self._raw == other.encode("utf-8", "surrogatepass")
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._raw)


no_subclasses(ZBytes)


def payload_bytes(value: object) -> bytes:
    """The bytes of an argument named `payload` or `attachment`. Hot."""
    if type(value) is bytes:
        return value
    if isinstance(value, ZBytes):
        return value._raw
    return _bytes_of(value)


def _bytes_of(value: object) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    raise TypeError(f"expected bytes/str type, found '{type(value).__name__}'")
