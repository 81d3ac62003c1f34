"""Rare messages: the few messages of the fast reader for which it evaluates rules one by one."""

from __future__ import annotations

from typing import Final

from zenlake.trace.events import Carrier, MessageSeen
from zenlake.trace.link import Link
from zenlake.wire import Frame, decode_network
from zenlake.wire.defaults import DEFAULT_PRIORITY
from zenlake.wire.kinds import kind_of
from zenlake.wire.message import NetworkMessage
from zenlake.wire.values.qos import PRIORITIES

_KNOWN_MAX: Final = 16_384

Lane = tuple[int, int, bool]
"""The sequence number and priority of a FRAME, and whether it is reliable."""


class _Known:
    """A decoded message."""

    __slots__ = ("is_noncanonical", "kind", "message")

    def __init__(self, message: NetworkMessage, is_noncanonical: bool) -> None:
        self.message = message
        self.kind = kind_of(message)
        self.is_noncanonical = is_noncanonical
        """Whether the decoded bytes differ from the canonical encoding of the message."""


class RareMessages:
    """Decodes bytes to the same events as the exact reader."""

    __slots__ = ("_known", "_links")

    def __init__(self, links: dict[int, Link]) -> None:
        self._links = links
        self._known: dict[bytes, _Known] = {}
        """A cache: sessions restart their ids, so the same declarations recur."""

    def events(
        self,
        contents: list[bytes],
        pairs: list[int],
        directions: list[int],
        packets: list[int],
        times_ns: list[int],
        odd: list[int],
    ) -> list[MessageSeen]:
        """One event for each message; appends the indexes of non-canonical encodings to `odd`."""
        found: list[MessageSeen] = []
        for place in range(len(contents)):
            known = self._read(contents[place])
            if known.is_noncanonical:
                odd.append(place)
            link = self._links[pairs[place]]
            session = link.session
            assert session is not None, f"{link} is regular, so its handshake was read"
            direction = directions[place]
            found.append(
                MessageSeen(
                    0,
                    packets[place],
                    times_ns[place],
                    link,
                    direction,
                    session,
                    session.nodes[link.sides[direction]],
                    known.kind,
                    known.message,
                )
            )
        return found

    def _read(self, content: bytes) -> _Known:
        known = self._known.get(content)
        if known is None:
            message, _ = decode_network(content, 0)
            known = _Known(message, bytes(message) != content)
            if len(self._known) >= _KNOWN_MAX:
                self._known.clear()
            self._known[content] = known
        return known


def set_keys(events: list[MessageSeen], codes: list[int], texts: list[str]) -> None:
    """Set the key of each event: an index into `texts`, or -1 for no key."""
    for event, code in zip(events, codes, strict=True):
        if code >= 0:
            event.key = texts[code]


def set_carriers(events: list[MessageSeen], lanes: list[Lane | None]) -> None:
    """Set the FRAME of each event; consecutive messages often share one."""
    last: Lane | None = None
    carrier: Carrier | None = None
    for event, lane in zip(events, lanes, strict=True):
        if lane is None:
            continue
        if carrier is None or lane != last:
            last = lane
            sn, priority, is_reliable = lane
            qos = None if priority == DEFAULT_PRIORITY else PRIORITIES[priority]
            carrier = Carrier(Frame(sn, [], is_reliable, qos))
        event.carrier = carrier
