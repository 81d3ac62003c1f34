"""Captured traffic: from files to packets, and from packets to what they carried.

This package knows files, link layers, IP, TCP and UDP; it knows no Zenoh messages. `open` is
the one exception, because this is where people look for it: it is `zenlake.trace.open`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zenlake.trace import Trace

__all__ = ["open"]


def open(paths: str | Iterable[str], ports: Iterable[int] = ()) -> Trace:
    """The events of a capture: every Zenoh message in it, and what became of sessions."""
    from zenlake.trace import open as open_trace

    return open_trace(paths, ports)
