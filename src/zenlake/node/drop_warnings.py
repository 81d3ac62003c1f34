"""DropWarnings: warnings about messages that this node dropped because of their size."""

from __future__ import annotations

import logging
import threading
import time
from typing import Final

from zenlake.protocol.dropped_message import DroppedMessage
from zenlake.routing.face import Face
from zenlake.warning_limiter import WarningLimiter

_log: Final = logging.getLogger("zenlake")


class DropWarnings:
    """The warnings of one node. Called without its lock: a log handler may use the session."""

    def __init__(self) -> None:
        self._limiter = WarningLimiter()
        self._lock = threading.Lock()

    def received(self, dropped: DroppedMessage, face: Face | None, source: str) -> None:
        """Warn of a message in fragments that exceeded a limit."""
        expr = dropped.key()
        key = None if expr is None or face is None else face.keys.resolve(expr)
        self._warn(dropped.limit_key, f"from {source}: {dropped.text(key)}")

    def unsendable(self, text: str, to: str) -> None:
        """Warn of a message that its link cannot carry."""
        self._warn("unsendable", f"to {to}: {text}")

    def refused(self, limit: str, source: str) -> None:
        """Warn of declarations, aliases, interests or requests beyond a neighbour's limits."""
        self._warn("refused", f"from {source}: declarations or requests are refused: {limit}")

    def _warn(self, kind: str, text: str) -> None:
        with self._lock:
            more = self._limiter.admit(kind, time.monotonic())
        if more is not None:
            _log.warning("%s%s", text, more)
