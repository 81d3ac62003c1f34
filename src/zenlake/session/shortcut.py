"""`Shortcut`: sends a publisher's values directly to the one link they go to.

Most publishers have one gateway or one subscribed peer, and change nothing from value to
value. Then a message is a constant head, a length and the payload; it goes straight to the
link, without the node's lock. A shortcut is void as soon as its route or the session's own
subscribers change.
"""

from __future__ import annotations

from zenlake.routing.forwarding.route import Route
from zenlake.wire import Encoding, Push, Put, QoS
from zenlake.wire.primitives import write_vle
from zenlake.wire.writer import BytesWriter


class _Head:
    """The bytes of a message before a payload of one size."""

    __slots__ = ("data", "size")

    def __init__(self, data: bytes, size: int) -> None:
        self.data = data
        self.size = size


class Shortcut:
    __slots__ = (
        "_head",
        "_last_head",
        "_outlet",
        "_qos",
        "_reliable",
        "route",
        "subscribers_version",
    )

    def __init__(
        self,
        route: Route,
        encoding: Encoding | None,
        qos: QoS,
        wire_qos: QoS | None,
        reliable: bool,
    ) -> None:
        empty = bytes(Push(route.exprs[0], Put(b"", None, encoding), wire_qos))
        self._head = empty[:-1]  # the payload's length comes last
        self._last_head = _Head(empty, 0)
        self._outlet = route.faces[0].outlet
        self._qos = qos.byte
        self._reliable = reliable
        self.route = route
        self.subscribers_version = -1

    def send(self, payload: bytes) -> bool:
        """Send a value to the link; False if the shortcut is void. Hot."""
        # One object, since another thread may replace it at any time.
        head = self._last_head
        size = len(payload)
        if head.size != size:
            head = self._last_head = self._head_for(size)
        return self._outlet.send_data(head.data + payload, self._qos, self._reliable)

    def _head_for(self, size: int) -> _Head:
        out = BytesWriter()
        out.write(self._head)
        write_vle(out, size)
        return _Head(out.getvalue(), size)
