"""Scouting over multicast: a thread that sends SCOUT and answers it with HELLO (wire §3)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from math import inf

from zenlake.links import LinkError, MulticastSockets
from zenlake.links.addresses import Address, split_address
from zenlake.links.multicast import ReceivedDatagram
from zenlake.node.group_taps import locator_of
from zenlake.node.settings import NodeSettings
from zenlake.node.tap import Tap
from zenlake.node.threads import ThreadError, ThreadOwner
from zenlake.protocol.scouting import Answerer, ScoutedNode, Scouter
from zenlake.wire import EndPoint, WhatAmIMatcher, ZenohId

log = logging.getLogger("zenlake.node")


class Scouting(ThreadOwner):
    """One multicast group: SCOUTs of a Scouter go out, HELLOs come in; an Answerer sends ours.

    Either may be missing. `found` is called for every HELLO, by the scouting thread.
    """

    def __init__(
        self,
        sockets: MulticastSockets,
        scouter: Scouter | None,
        answerer: Answerer | None,
        found: Callable[[ScoutedNode], None],
        tap: Tap | None,
    ) -> None:
        super().__init__("zenlake scouting")
        self._sockets = sockets
        self._tap = tap
        self._scouter = scouter
        self._answerer = answerer
        self._found = found
        self._is_closed = False

    def start(self) -> None:
        try:
            super().start()
        except ThreadError as error:
            self._sockets.close()
            raise LinkError(self._sockets.endpoint, str(error)) from error

    def _run(self) -> None:
        try:
            while not self._is_closed:
                deadline = self._send_scout(time.monotonic())
                left = None if deadline == inf else deadline - time.monotonic()
                for datagram in self._sockets.receive(left):
                    self._receive(datagram)
        except LinkError as error:
            log.error("scouting ended: %s", error)
        finally:
            self._sockets.close()

    def _send_scout(self, now: float) -> float:
        if self._scouter is None:
            return inf
        scout = self._scouter.handle_timeout(now)
        if scout is not None:
            for own in self._sockets.send(scout):
                self._record(own, self._sockets.group, scout)
        return self._scouter.next_deadline()

    def _record(self, source: Address, destination: Address, data: bytes) -> None:
        if self._tap is not None:
            self._tap.scouting(locator_of(source), locator_of(destination), data)

    def _receive(self, datagram: ReceivedDatagram) -> None:
        self._record(datagram.source, datagram.destination, datagram.data)
        if self._answerer is not None:
            source = str(datagram.source[0])
            hello = self._answerer.receive(datagram.data, source, time.monotonic())
            if hello is not None:
                own = self._sockets.answer(hello, datagram)
                if own is not None:
                    self._record(own, datagram.source, hello)
                return
        if self._scouter is not None:
            found = self._scouter.receive(datagram.data)
            if found is not None:
                self._found(found)

    def close(self) -> None:
        self._is_closed = True
        self._sockets.wake()


def scout(
    settings: NodeSettings,
    wanted: int,
    found: Callable[[ScoutedNode], None],
    answerer: Answerer | None = None,
    own_zid: ZenohId | None = None,
    tap: Tap | None = None,
) -> Scouting:
    """Start to scout for roles (a mask; 0 sends no SCOUT) in the group that the settings name."""
    host, port = split_address(EndPoint("udp", settings.multicast_address))
    sockets = MulticastSockets(
        host,
        port,
        settings.multicast_interface,
        settings.multicast_ttl,
        listens=answerer is not None,
    )
    now = time.monotonic()
    scouter = Scouter(WhatAmIMatcher(wanted), now, own_zid) if wanted else None
    scouting = Scouting(sockets, scouter, answerer, found, tap)
    scouting.start()
    return scouting
