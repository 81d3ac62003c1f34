"""Names of emitted functions."""

from __future__ import annotations

from zenlake.wire.generate.names import snake
from zenlake.wire.layout import Layout


def kernel_name(layout: Layout) -> str:
    return f"_{snake(layout.class_name)}"
