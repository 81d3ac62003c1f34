"""`Outlet`: the object through which routing sends messages to one face."""

from __future__ import annotations

from zenlake._mypyc import mypyc_attr
from zenlake.wire.message import NetworkMessage
from zenlake.wire.push_run import Portion


class LastRefusal:
    """The reason of the last message that a link refused; "" if none was refused.

    Outlets cannot raise: a message may go to several links, and may come from another node. A
    session clears the text before it sends, and raises afterwards if there is one.
    """

    __slots__ = ("text",)

    def __init__(self) -> None:
        self.text = ""


@mypyc_attr(allow_interpreted_subclasses=True)
class Outlet:
    """Subclassed by the node (a link) and by the session (the application)."""

    __slots__ = ()

    def push(self, message: NetworkMessage, key: str, reliable: bool) -> None:
        """Accept one message; never blocks, never raises.

        It is called from within the dispatcher: a session may answer a query at once (RESPONSE,
        RESPONSE_FINAL), everything else must wait until the dispatcher has returned.

        `key` is the full key expression that the message is about, "" if there is none; the
        undeclare messages have it too, even where it does not travel. A link encodes
        `message`, whose WireExpr is made for that face. The in-process session reads `key`
        and must not look at `message.key`, which may belong to the numbering of another face.
        """
        raise NotImplementedError

    def push_run(
        self, messages: list[NetworkMessage], start: int, stop: int, key: str, reliable: bool
    ) -> None:
        """Accept `messages[start:stop]`, which are all PUSH and have the same key."""
        for index in range(start, stop):
            self.push(messages[index], key, reliable)

    def portion_bytes_max(self) -> int:
        """How long the portions of `push_portions` may be, 0 if it accepts none."""
        return 0

    def room_bytes(self, qos: int, reliable: bool) -> int:
        """How long the first portion may be to fit into the batch that is being filled."""
        return 0

    def drops_run(self, count: int, qos: int, reliable: bool) -> bool:
        """Whether so many publications would be dropped; then they are counted as dropped.

        Called before they are encoded: under overload most of the work is for messages that are
        dropped.
        """
        return False

    def push_portions(self, portions: list[Portion], qos: int, reliable: bool) -> None:
        """Accept encoded publications that were made for this face, with their QoS byte."""
        raise NotImplementedError

    def send_data(self, data: bytes, qos: int, reliable: bool) -> bool:
        """Accept an encoded publication, with its QoS byte; False if this outlet accepts none.

        Unlike `push` it is called without any lock, and may wait for room.
        """
        return False
