"""Events: listeners for transports and links that open and close."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from zenlake.node.info import LinkInfo, TransportInfo

log = logging.getLogger("zenlake.node")

Listener = Callable[[bool, TransportInfo, LinkInfo], None]


class Events:
    """Listeners get (is_new, transport, link), outside all locks, in the order of events.

    A multicast transport has one link, as any other, so both change together.
    """

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._lock = threading.Lock()

    @property
    def has_listeners(self) -> bool:
        return len(self._listeners) > 0

    def add(self, listener: Listener) -> None:
        with self._lock:
            self._listeners = [*self._listeners, listener]

    def remove(self, listener: Listener) -> None:
        with self._lock:
            self._listeners = [one for one in self._listeners if one is not listener]

    def report(self, is_new: bool, transport: TransportInfo, link: LinkInfo) -> None:
        for listener in self._listeners:
            try:
                listener(is_new, transport, link)
            except Exception:  # an exception of a listener must not end a transport
                log.exception("a listener of transport events failed")
