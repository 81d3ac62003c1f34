"""Finding: a rule that was broken, and where."""

from __future__ import annotations

from zenlake.rules.rule import Rule
from zenlake.trace.events import MessageSeen
from zenlake.trace.link import Link, LinkBatch
from zenlake.trace.session import Node, Session


class Place:
    """A place in the capture: packet, time, link, session and sender."""

    __slots__ = ("link", "node", "packet", "seq", "session", "time_ns")

    def __init__(
        self,
        packet: int,
        time_ns: int,
        seq: int,
        link: Link,
        session: Session | None,
        node: Node | None,
    ) -> None:
        self.packet = packet
        self.time_ns = time_ns
        self.seq = seq
        """Number of the message in the capture; 0 for a whole batch."""
        self.link = link
        self.session = session
        self.node = node
        """The node that broke the rule. Its zid may become known later."""


def place_of(event: MessageSeen) -> Place:
    return Place(
        event.packet, event.time_ns, event.seq, event.link, event.session, event.sender_node
    )


def batch_place(batch: LinkBatch, node: Node | None) -> Place:
    return Place(batch.packet, batch.time_ns, 0, batch.link, batch.link.session, node)


class Finding:
    """A violation of a rule; `message` describes it with the values."""

    __slots__ = ("message", "place", "rule", "times")

    def __init__(self, rule: Rule, place: Place, message: str, times: int = 1) -> None:
        self.rule = rule
        self.place = place
        self.message = message
        self.times = times
        """The number of violations that this finding summarizes."""

    @property
    def packet(self) -> int:
        return self.place.packet

    @property
    def sender_zid(self) -> str | None:
        node = self.place.node
        return None if node is None else node.zid

    @property
    def session(self) -> str | None:
        session = self.place.session
        return None if session is None else session.id

    def __repr__(self) -> str:
        return f"Finding({self.rule.id}, {self.rule.severity}, {self.packet}, {self.message!r})"
