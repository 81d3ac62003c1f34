"""AbstractSender: the outbound half of a transport or of a multicast group, as outlets use it."""

from __future__ import annotations

from typing import Final

from zenlake._mypyc import mypyc_attr
from zenlake.wire.push_run import Portion

DROPPED: Final = 0
TAKEN: Final = 1
FULL: Final = 2
TOO_LARGE: Final = 3


@mypyc_attr(allow_interpreted_subclasses=True)
class AbstractSender:
    """Sends encoded messages, each with its QoS byte."""

    __slots__ = ()

    def portion_bytes_max(self) -> int:
        """The most bytes of publications pushed together; 0 if each must be pushed alone."""
        return 0

    def room_bytes(self, qos: int, reliable: bool) -> int:
        """How many bytes of publications fit into the batch that is being filled."""
        return 0

    def drops_run(self, count: int, qos: int, reliable: bool) -> bool:
        """Whether so many publications are dropped; counts them if so. The node's lock is held."""
        return False

    def push_portion(self, portion: Portion, qos: int, reliable: bool, continues: bool) -> int:
        """Queue several publications at once, as `push` does.

        A portion that `continues` a run is accepted although the beginning of the run filled the
        queue: no thread could send or wait in between.
        """
        raise NotImplementedError

    def push(self, data: bytes, qos: int, reliable: bool) -> int:
        """Queue a message, with the node's lock held; returns DROPPED, TAKEN, FULL or TOO_LARGE.

        FULL: the message was the last one there is room for. TOO_LARGE: the link cannot carry it.
        """
        raise NotImplementedError

    def after_unlock(
        self, full: int, is_blocking: bool, is_last: bool = False, will_flush: bool = False
    ) -> None:
        """Send what was pushed; wait for room where `full` is a priority. The lock is not held.

        With `is_last` the caller has no more messages, so all are sent at once. With `will_flush`
        the caller flushes unsent messages itself before it waits for anything.
        """
        raise NotImplementedError

    def must_wait(self, full: int, is_blocking: bool) -> bool:
        """Whether `after_unlock` would wait for room; called after sending, without the lock."""
        return True

    def refuse(self, key: str, size: int) -> str:
        """The reason for TOO_LARGE, which `after_unlock` then logs; the node's lock is held."""
        raise NotImplementedError

    def send(self, data: bytes, qos: int, reliable: bool) -> bool:
        """`push` and `after_unlock`, without the lock; False if it is too large to be sent."""
        outcome = self.push(data, qos, reliable)
        self.after_unlock(qos & 7 if outcome == FULL else -1, reliable and qos & 0x08 != 0)
        return True
