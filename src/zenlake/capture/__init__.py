"""Captured traffic: from files to packets, from packets to TCP streams and UDP datagrams.

This package does not know Zenoh messages. The one exception is `open`, which is
`zenlake.trace.open`: users look for it here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zenlake.trace import Trace

__all__ = ["open"]


def open(paths: str | Iterable[str], ports: Iterable[int] = ()) -> Trace:
    """The events of a capture: every Zenoh message in it, and every change of a session."""
    from zenlake.trace import open as open_trace

    return open_trace(paths, ports)
