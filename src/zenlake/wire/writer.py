"""The growing buffer that encoders write into.

`librt.strings.BytesWriter` is part of mypyc: compiled code appends to it without a call, and in
plain Python it is as fast as a bytearray. If its wheel is missing, the class below replaces it.
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
            """Append bytes, then get them all."""

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
