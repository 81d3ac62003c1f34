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
        """How long publications that are pushed together may be, 0 if each must be pushed alone."""
        return 0

    def room_bytes(self, qos: int, reliable: bool) -> int:
        """How many bytes of publications fit into the batch that is being filled."""
        return 0

    def drops_run(self, count: int, qos: int, reliable: bool) -> bool:
        """Under the node's lock: whether so many publications are dropped; counts them if so."""
        return False

    def push_portion(self, portion: Portion, qos: int, reliable: bool, continues: bool) -> int:
        """As `push`, for several publications in one.

        A portion that `continues` a run is accepted although the beginning of the run filled the
        queue: no thread could send or wait in between.
        """
        raise NotImplementedError

    def push(self, data: bytes, qos: int, reliable: bool) -> int:
        """Under the node's lock: DROPPED, TAKEN, or FULL if it was the last there is room for.

        TOO_LARGE if the link cannot carry it at all.
        """
        raise NotImplementedError

    def after_unlock(
        self, full: int, is_blocking: bool, is_last: bool = False, will_flush: bool = False
    ) -> None:
        """Without that lock: send what was pushed, wait for room where `full` is a priority.

        With `is_last` the caller has no more messages, so that nothing gathers. With `will_flush`
        it flushes what gathers before it waits for anything.
        """
        raise NotImplementedError

    def must_wait(self, full: int, is_blocking: bool) -> bool:
        """Without that lock, after sending: whether `after_unlock` would wait for room."""
        return True

    def refuse(self, key: str, size: int) -> str:
        """Under the node's lock, after TOO_LARGE: the reason; `after_unlock` then logs it."""
        raise NotImplementedError

    def send(self, data: bytes, qos: int, reliable: bool) -> bool:
        """`push` and `after_unlock`, without the lock; False if it is too large to be sent."""
        outcome = self.push(data, qos, reliable)
        self.after_unlock(qos & 7 if outcome == FULL else -1, reliable and qos & 0x08 != 0)
        return True
