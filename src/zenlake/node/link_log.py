"""LinkLog: log messages about the links of a node.

INFO: transports that open and close. WARNING: links that were lost, and connections that were
refused. Of many such messages for one address, one is logged every ten seconds, with a count.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Final

from zenlake.warning_limiter import WarningLimiter
from zenlake.wire import WhatAmI, ZenohId

_log: Final = logging.getLogger("zenlake.transport")
_TEXT_CHARACTERS: Final = 1_000


class LinkLog:
    """The log of one node. Called without its lock: a log handler may use the session."""

    def __init__(self) -> None:
        self._limiter = WarningLimiter()
        self._lock = threading.Lock()

    def opened(self, zid: ZenohId, role: WhatAmI, locator: str) -> None:
        _log.info("transport with %s %s at %s is open", role, zid, locator)

    def closed(self, zid: ZenohId, locator: str, cause: str) -> None:
        """Log a transport that ended with the CLOSE of either side."""
        _log.info("transport with %s at %s is closed: %s", zid, locator, cause)

    def lost(self, zid: ZenohId, locator: str, cause: str) -> None:
        text = f"transport with {zid} at {locator} is lost: {cause}"
        self._limited(logging.WARNING, f"lost {host_of(locator)}", text)

    def refused(self, locator: str, cause: str) -> None:
        """Log an incoming connection that was refused."""
        text = f"refused a connection from {locator}: {cause}"
        self._limited(logging.WARNING, f"refused {host_of(locator)}", text)

    def unfinished(self, locator: str, cause: str) -> None:
        """Log an incoming connection that ended before its handshake did, as in port scans."""
        text = f"no transport with {locator}: {cause}"
        self._limited(logging.INFO, f"unfinished {host_of(locator)}", text)

    def no_connection(self, cause: str) -> None:
        """Log a failed attempt to connect to a configured endpoint."""
        self._limited(logging.WARNING, f"no connection {cause}", f"no connection: {cause}")

    def unreachable(self, zid: ZenohId, causes: str) -> None:
        """Log a failed attempt to connect to a found node, which is often gone by then."""
        text = f"node {zid} was found but cannot be connected to:{causes}"
        self._limited(logging.INFO, "unreachable", text)

    def _limited(self, level: int, kind: str, text: str) -> None:
        if not _log.isEnabledFor(level):
            return
        with self._lock:
            more = self._limiter.admit(kind, time.monotonic())
        if more is not None:
            _log.log(level, "%s%s", printable(text), more)


def printable(text: str) -> str:
    """The text in one line: other nodes choose parts of it."""
    shown = text if len(text) <= _TEXT_CHARACTERS else f"{text[:_TEXT_CHARACTERS]}..."
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in shown)


def host_of(locator: str) -> str:
    """The address of a locator, without its port."""
    return locator.partition("/")[2].rpartition(":")[0]
