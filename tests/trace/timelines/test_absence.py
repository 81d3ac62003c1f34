"""Sentences about declarations that had ended: the first end, then the routers that relayed it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from zenlake.trace.timelines.absence import UNDECLARED, Wording, describe_gone

WORDING = Wording(
    who=lambda zid: f"node {zid}",
    key=lambda key: f"'{key}'",
    apart=lambda ns: f"{ns} ns",
    all_ended_in=lambda ended: f" ({', '.join(one.session for one in ended)})",
)


@dataclass
class Declaration:
    """A subscriber to `k`, declared by one node to another."""

    sender: str
    receiver: str
    ended_ns: int | None
    ended_by: str | None = "undeclare"
    declared_ns: int = 0
    entity: str = "subscriber"
    key: str = "k"
    node_id: int | None = None

    @property
    def session(self) -> str:
        return f"{self.sender}-{self.receiver}"

    def is_alive(self, time_ns: int) -> bool:
        return self.ended_ns is None or time_ns < self.ended_ns

    def end_with_router(self, time_ns: int) -> None:
        self.ended_ns, self.ended_by = time_ns, "router"


class Chain:
    """The declarations of a capture; nodes whose name begins with r are routers."""

    def __init__(self, *declarations: Declaration) -> None:
        self.declarations = declarations

    def role(self, zid: str | None) -> str:
        return "router" if zid and zid.startswith("r") else "client"

    def announced_exactly(self, zid: str, entity: str, key: str) -> Sequence[Declaration]:
        return [one for one in self.declarations if one.receiver == zid]

    announced_matching = announced_exactly

    def closer(self, session: str) -> str | None:
        return None

    def leaver(self, session: str) -> str | None:
        return None


def chain(*ends: int | None) -> Chain:
    """A client c declared it to r1, which declared it to r2, and so on; each ended at a time."""
    names = ["c", *(f"r{n}" for n in range(1, len(ends) + 1))]
    return Chain(
        *(
            Declaration(sender, receiver, end, node_id=max(hop - 1, 0))
            for hop, (sender, receiver, end) in enumerate(
                zip(names[:-1], names[1:], ends, strict=True)
            )
        )
    )


def test_relays_are_named_from_the_origin_on() -> None:
    network = chain(10, 20, 30)
    gone = describe_gone(network, network.declarations[2], 100, WORDING)
    assert [one.sender for one in gone.path] == ["r2", "r1", "c"]
    assert (gone.how, gone.culprit) == (UNDECLARED, "c")
    assert gone.sentence == (
        "the subscriber 'k' of node c was undeclared 90 ns before; "
        "node r1 and node r2 passed that on (r1-r2, r2-r3)"
    )


def test_declaration_that_ended_first_is_not_its_own_relay() -> None:
    network = chain(10)
    gone = describe_gone(network, network.declarations[0], 100, WORDING)
    assert gone.sentence == "the subscriber 'k' of node c was undeclared 90 ns before"


def test_only_routers_that_undeclared_it_passed_that_on() -> None:
    """A session that ended between two routers relays nothing."""
    network = chain(10, 20)
    last = network.declarations[1]
    last.ended_by = "router"
    gone = describe_gone(network, last, 100, WORDING)
    assert [one.sender for one in gone.path] == ["r1", "c"]
    assert gone.sentence == "the subscriber 'k' of node c was undeclared 90 ns before"


def test_router_that_undeclares_what_a_neighbour_still_declares() -> None:
    network = chain(None, 20)
    gone = describe_gone(network, network.declarations[1], 100, WORDING)
    assert (gone.culprit, gone.kept_by, gone.is_unseen) == ("r1", "c", False)
    assert gone.sentence == (
        "the subscriber 'k' of node r1 was undeclared 80 ns before, "
        "although node c still declared it to that router"
    )


def test_router_that_undeclares_what_the_capture_lacks() -> None:
    declaration = Declaration("r1", "r2", 20)
    gone = describe_gone(Chain(declaration), declaration, 100, WORDING)
    assert gone.is_unseen
    assert gone.sentence == (
        "the subscriber 'k' of node r1 was undeclared 80 ns before; "
        "who had declared it to node r1 is not in the capture"
    )
