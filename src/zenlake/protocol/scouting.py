"""Scouting: a Scouter sends SCOUT, an Answerer answers with HELLO (wire reference §3).

Both receive and return datagrams. Datagrams that are not SCOUT or HELLO are counted and ignored.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Final

from zenlake.errors import LocalError, WireError
from zenlake.limits import (
    HELLO_BYTES_MAX,
    HELLO_BYTES_PER_SECOND_MAX,
    LOCATORS_PER_HELLO_MAX,
    SCOUTERS_MAX,
)
from zenlake.protocol.token_bucket import TokenBucket
from zenlake.wire import EndPoint, Hello, Scout, WhatAmI, WhatAmIMatcher, ZenohId, decode_scouting
from zenlake.wire.message import ScoutingMessage

_FIRST_WAIT_S: Final = 1.0
_WAIT_S_MAX: Final = 8.0
# A node sends SCOUT at 0, 1, 3, 7, ... seconds; several nodes may share one address.
_ANSWERS_AT_ONCE: Final = 8.0
_ANSWERS_PER_SECOND: Final = 2.0


class ScoutedNode:
    """A node that answered; without locators it cannot be connected to."""

    __slots__ = ("locators", "role", "zid")

    def __init__(self, zid: ZenohId, role: WhatAmI, locators: tuple[str, ...]) -> None:
        self.zid = zid
        self.role = role
        self.locators = locators

    def __repr__(self) -> str:
        return f"ScoutedNode({self.role} {self.zid} at {', '.join(self.locators)})"


class Scouter:
    """Sends SCOUT at once, then after 1, 2, 4, 8, 8, ... seconds, for as long as it is used."""

    __slots__ = ("_own_zid", "_scout", "_wait_s", "_wanted", "next_scout", "unread")

    def __init__(self, wanted: WhatAmIMatcher, now: float, own_zid: ZenohId | None = None) -> None:
        self._wanted = wanted
        self._own_zid = own_zid
        self._scout = bytes(Scout(wanted))
        self._wait_s = _FIRST_WAIT_S
        self.next_scout = now
        self.unread = 0

    def next_deadline(self) -> float:
        return self.next_scout

    def handle_timeout(self, now: float) -> bytes | None:
        """The datagram to send to the group on every interface, if one is due."""
        if now < self.next_scout:
            return None
        self.next_scout = now + self._wait_s
        self._wait_s = min(2 * self._wait_s, _WAIT_S_MAX)
        return self._scout

    def receive(self, datagram: bytes) -> ScoutedNode | None:
        """The node that sent a HELLO, if its role is wanted."""
        message = _read(datagram)
        if message is None:
            self.unread += 1
        if not isinstance(message, Hello) or not self._wanted.matches(message.whatami):
            return None
        if message.zid == self._own_zid:
            return None
        return ScoutedNode(message.zid, message.whatami, message.locators or ())


class Answerer:
    """Answers SCOUTs at a limited rate, since the sender may be forged (limits: H10).

    A token bucket for each source address limits answers, one for all of them limits bytes.
    `set_locators` sets the locators of this node.
    """

    __slots__ = (
        "_bytes",
        "_local_hello",
        "_remote_hello",
        "_role",
        "_sources",
        "_zid",
        "answered",
        "unread",
        "withheld",
    )

    def __init__(self, zid: ZenohId, role: WhatAmI, now: float) -> None:
        self._zid = zid
        self._role = role
        self._bytes = TokenBucket(2 * HELLO_BYTES_PER_SECOND_MAX, HELLO_BYTES_PER_SECOND_MAX, now)
        self._sources: OrderedDict[str, TokenBucket] = OrderedDict()
        self._local_hello = self._remote_hello = b""
        self.answered = 0
        self.withheld = 0
        self.unread = 0
        self.set_locators([])

    def set_locators(self, locators: Sequence[str]) -> None:
        """Set the locators. Loopback locators are sent only to nodes on the same host."""
        self._local_hello = self._hello(locators)
        self._remote_hello = self._hello([it for it in locators if not is_loopback_locator(it)])

    def receive(self, datagram: bytes, source: str, now: float) -> bytes | None:
        """The HELLO to send back to the sender of a SCOUT, whose IP address is `source`."""
        message = _read(datagram)
        if message is None:
            self.unread += 1
        # Version and mandatory extensions are not checked (wire reference §3.2).
        if not isinstance(message, Scout) or not message.what.matches(self._role):
            return None
        if message.zid == self._zid:
            return None
        hello = self._local_hello if is_loopback(source) else self._remote_hello
        if not self._bucket_of(source, now).spend(1, now) or not self._bytes.spend(len(hello), now):
            self.withheld += 1
            return None
        self.answered += 1
        return hello

    def _bucket_of(self, source: str, now: float) -> TokenBucket:
        bucket = self._sources.get(source)
        if bucket is None:
            if len(self._sources) >= SCOUTERS_MAX:
                self._sources.popitem(last=False)
            bucket = TokenBucket(_ANSWERS_AT_ONCE, _ANSWERS_PER_SECOND, now)
            self._sources[source] = bucket
        else:
            self._sources.move_to_end(source)
        return bucket

    def _hello(self, locators: Sequence[str]) -> bytes:
        announced: list[str] = []
        room = HELLO_BYTES_MAX - len(bytes(Hello(self._role, self._zid, locators=())))
        for locator in locators[:LOCATORS_PER_HELLO_MAX]:
            room -= len(locator.encode()) + 2
            if room < 0:
                break
            announced.append(locator)
        return bytes(Hello(self._role, self._zid, locators=tuple(announced)))


def is_loopback(address: str) -> bool:
    """Whether the text of an address names this host only."""
    try:
        return ip_address(address.partition("%")[0]).is_loopback
    except ValueError:
        return address == "localhost"


def is_loopback_locator(locator: str) -> bool:
    try:
        address = EndPoint.parse(locator).address
    except LocalError:
        return False
    host = address.rpartition(":")[0]
    return is_loopback(host.strip("[]"))


def _read(datagram: bytes) -> ScoutingMessage | None:
    try:
        return decode_scouting(datagram, 0)[0]
    except WireError:
        return None
