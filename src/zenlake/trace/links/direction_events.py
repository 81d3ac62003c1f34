"""DirectionEvents: the content of one direction of a connection as events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.trace.events import Missing, Undecoded
from zenlake.trace.link import LinkBatch
from zenlake.trace.links.units import Content

if TYPE_CHECKING:
    from zenlake.trace.links.connection import Connection


class DirectionEvents:
    """Appends items of one direction to `connection.out`."""

    __slots__ = ("_connection", "_direction", "reported_bytes")

    def __init__(self, connection: Connection, direction: int) -> None:
        self._connection = connection
        self._direction = direction
        self.reported_bytes = 0
        """Bytes that are searched again and were reported as undecoded: reported only once."""

    def batch(
        self,
        packet: int,
        time_ns: int,
        content: bytes,
        read: Content,
        state: str,
        earlier: tuple[int, ...],
    ) -> None:
        connection = self._connection
        lost = 0 if state == "ok" else read.lost_bytes(is_cut=True)
        connection.out.append(
            LinkBatch(
                connection.link,
                self._direction,
                packet,
                time_ns,
                content,
                read.messages,
                state,
                read.error,
                lost,
                earlier,
                read.content,
                read.form,
            )
        )

    def undecoded(self, packet: int, time_ns: int, state: str, count: int, cause: str) -> None:
        connection = self._connection
        connection.out.append(
            Undecoded(packet, time_ns, connection.link, self._direction, state, count, cause)
        )

    def no_unit_in(self, count: int, state: str) -> None:
        """Reports bytes in which no unit begins."""
        reported = min(self.reported_bytes, count)
        self.reported_bytes -= reported
        count -= reported
        connection = self._connection
        if not count or not connection.is_zenoh:
            connection.rejected_bytes[self._direction] += count
            return
        packet, time_ns, link = connection.packet, connection.time_ns, connection.link
        self.undecoded(packet, time_ns, state, count, "no batch begins there")
        cause = "framing was lost"
        connection.out.append(
            Missing(packet, time_ns, link, self._direction, "resync", cause, bytes=count)
        )
