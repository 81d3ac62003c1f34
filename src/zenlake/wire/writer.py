"""The growing buffer that encoders write into.

`librt.strings.BytesWriter` is mypyc's own: compiled code appends to it without a call, and
plain Python finds it no slower than a bytearray. Where its wheel is missing, the class below
does the same in plain Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from librt.strings import BytesWriter
else:
    try:
        from librt.strings import BytesWriter
    except ImportError:

        class BytesWriter:
            """Append bytes, then take them all."""

            __slots__ = ("_bytes",)

            def __init__(self):
                self._bytes = bytearray()

            def append(self, byte):
                self._bytes.append(byte)

            def write(self, some):
                self._bytes += some

            def getvalue(self):
                return bytes(self._bytes)

            def __len__(self):
                return len(self._bytes)


__all__ = ["BytesWriter"]
