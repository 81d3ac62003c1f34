"""The bytes that a function of the codec writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from zenlake.wire.primitives import write_vle
from zenlake.wire.writer import BytesWriter

T = TypeVar("T")


def written(write: Callable[[BytesWriter, T], None], value: T) -> bytes:
    out = BytesWriter()
    write(out, value)
    return out.getvalue()


def vle(value: int) -> bytes:
    """A number of variable length in its shortest form."""
    return written(write_vle, value)
