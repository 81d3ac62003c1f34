"""LinkOutlet: where routing puts the messages for a node on the other side of a link."""

from __future__ import annotations

from zenlake.node.abstract_sender import DROPPED, FULL, TOO_LARGE, AbstractSender
from zenlake.routing.outlet import LastRefusal, Outlet
from zenlake.wire.defaults import DEFAULT_QOS_BYTE
from zenlake.wire.message import NetworkMessage
from zenlake.wire.push_run import Portion
from zenlake.wire.values.qos import QoS
from zenlake.wire.writer import BytesWriter


class LinkOutlet(Outlet):
    """Encodes messages and pushes them into the sender, under the node's lock.

    An outlet that got messages is appended to `touched`, once. The thread that holds the lock
    calls `AbstractSender.after_unlock` for it when it has released the lock.
    """

    __slots__ = ("_refusal", "_touched", "full", "is_blocking", "is_touched", "sender")

    def __init__(
        self, sender: AbstractSender, touched: list[LinkOutlet], refusal: LastRefusal
    ) -> None:
        self.sender = sender
        self._touched = touched
        self._refusal = refusal
        self.is_touched = False
        self.full = -1  # the priority whose queue is full; -1 if none is
        self.is_blocking = False

    def push(self, message: NetworkMessage, key: str, reliable: bool) -> None:
        qos: QoS | None = message.qos  # type: ignore[attr-defined]  # all have it
        byte = DEFAULT_QOS_BYTE if qos is None else qos.byte
        out = BytesWriter()
        message.encode(out)
        data = out.getvalue()
        outcome = self.sender.push(data, byte, reliable)
        if outcome == TOO_LARGE:
            self._refusal.text = self.sender.refuse(key, len(data))
        if outcome != DROPPED:
            self._note(outcome, byte, reliable)

    def portion_bytes_max(self) -> int:
        return self.sender.portion_bytes_max()

    def room_bytes(self, qos: int, reliable: bool) -> int:
        return self.sender.room_bytes(qos, reliable)

    def drops_run(self, count: int, qos: int, reliable: bool) -> bool:
        return self.sender.drops_run(count, qos, reliable)

    def push_portions(self, portions: list[Portion], qos: int, reliable: bool) -> None:
        outcome = DROPPED
        for portion in portions:
            outcome = self.sender.push_portion(portion, qos, reliable, outcome != DROPPED)
            if outcome != DROPPED:
                self._note(outcome, qos, reliable)

    def _note(self, outcome: int, byte: int, reliable: bool) -> None:
        if not self.is_touched:
            self.is_touched = True
            self._touched.append(self)
        if outcome == FULL:
            blocks = reliable and byte & 0x08 != 0
            if blocks or not self.is_blocking:
                self.full = byte & 7
                self.is_blocking = blocks

    def send_data(self, data: bytes, qos: int, reliable: bool) -> bool:
        return self.sender.send(data, qos, reliable)

    def pop_arguments(self) -> tuple[AbstractSender, int, bool]:
        """Return the arguments for `after_unlock` and reset the outlet; the node's lock is held."""
        taken = (self.sender, self.full, self.is_blocking)
        self.is_touched = False
        self.full = -1
        self.is_blocking = False
        return taken
