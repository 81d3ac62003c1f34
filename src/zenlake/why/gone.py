"""Gone: who gave up what a node was told of, back to the node that did so first."""

from __future__ import annotations

from dataclasses import dataclass, field

from zenlake.why.network import Network
from zenlake.why.origins import first_hand, given_up, sources
from zenlake.why.records import Declaration, Moment
from zenlake.why.words import apart, key_text, listed, packets_text


@dataclass(slots=True)
class Gone:
    """How a declaration ended: a sentence, the node to look at, what to try, and the path."""

    sentence: str
    culprit: str | None
    advice: list[str]
    path: list[Declaration] = field(default_factory=list)


def tell_gone(network: Network, life: Declaration, at: Moment) -> Gone:
    """Of a declaration that had ended at that moment."""
    path = given_up(network, life)
    first = path[-1]
    made = _ended(network, first, at)
    made.path = path + first_hand(network, first)[1:]
    relays = [one for one in reversed(path[:-1]) if one.ended_by == "undeclare"]
    if relays:
        names = listed([network.words.who(one.sender) for one in relays])
        packets = packets_text([one.ended.packet for one in relays if one.ended])
        made.sentence += f"; {names} passed that on ({packets})"
    if first.ended_by == "undeclare":
        _tell_behind(network, first, made)
    return made


def _ended(network: Network, life: Declaration, at: Moment) -> Gone:
    words = network.words
    who = words.who(life.sender)
    what = f"the {life.entity} {key_text(life.key)}"
    when = "before" if life.ended is None else f"{apart(life.ended.time_ns, at.time_ns)} before"
    packet = None if life.ended is None else life.ended.packet
    place = "" if packet is None else f" (packet {packet})"
    if life.ended_by == "undeclare":
        return Gone(
            f"{what} of {who} was undeclared {when}{place}",
            life.sender,
            [f"Find out why {who} gave it up: is the program still running?"],
        )
    if life.ended_by != "session":
        return Gone(f"{what} of {who} was gone {when}", life.sender, [])
    owner = first_hand(network, life)[-1]
    behind = "" if owner is life else f" (it had it from {words.who(owner.sender)})"
    session = network.evidence.sessions.get(life.session)
    other = words.who(life.receiver)
    if session is not None and session.outcome == "closed" and session.closer is not None:
        closed = "" if session.close_packet is None else f" (packet {session.close_packet})"
        closer = words.who(session.closer)
        peer = other if session.closer == life.sender else who
        return Gone(
            f"{what} of {who}{behind} went with its session: {closer} closed that with {peer} "
            f"{when}{closed}",
            session.closer,
            [f"Find out why {closer} closed the session: did the program end?"],
        )
    return Gone(
        f"{what} of {who}{behind} went with its session with {other}, which was lost {when}{place}",
        life.sender,
        [f"Did {who} crash, or did the network between it and {other} fail?"],
    )


def _tell_behind(network: Network, life: Declaration, made: Gone) -> None:
    """A router has nothing of its own: somebody is behind it, or ought to be."""
    words = network.words
    if words.role(life.sender) != "router" or life.ended is None:
        return
    found = sources(network, life)
    router = words.who(life.sender)
    still = [one for one in found if one.is_alive(life.ended.time_ns)]
    if still:
        made.sentence += f", although {words.who(still[0].sender)} still declared it to that router"
        made.advice[:] = [f"Look at {router}: why did it give up what it was still told?"]
    elif not found:
        made.sentence += f"; who had declared it to {router} is not in the capture"
        made.advice[:] = [f"Capture at {router}, on all of its links: who was behind it?"]
