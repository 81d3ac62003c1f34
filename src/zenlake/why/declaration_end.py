"""Declaration ends: which node undeclared an entity first, followed back from hop to hop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from zenlake.trace.timelines import absence
from zenlake.trace.timelines.absence import CLOSED, LOST, UNDECLARED, Wording
from zenlake.trace.timelines.origins import path_to_origin
from zenlake.why.formatting import apart, in_packet, key_text, packets_text
from zenlake.why.network import Network
from zenlake.why.query_ends import session_end
from zenlake.why.records import Declaration, Moment


@dataclass(slots=True)
class DeclarationEnd:
    """How a declaration ended: a sentence, the node to look at, what to try, and the path."""

    sentence: str
    culprit: str | None
    advice: list[str]
    path: list[Declaration] = field(default_factory=list)


def describe_end(network: Network, declaration: Declaration, at: Moment) -> DeclarationEnd:
    """Explains the end of a declaration that had ended at `at`."""
    found = absence.describe_gone(network, declaration, at.time_ns, wording(network))
    first = found.path[-1]
    path = found.path + path_to_origin(network, first)[1:]
    return DeclarationEnd(found.sentence, found.culprit, _advice(network, first, found), path)


def wording(network: Network) -> Wording:
    """The wording of `zenlake why`, which adds packet numbers."""

    def closed_in(session: str) -> str:
        record = network.evidence.sessions.get(session)
        return "" if record is None else in_packet(session_end(record))

    def all_ended_in(declarations: Sequence[Declaration]) -> str:
        return f" ({packets_text([one.ended.packet for one in declarations if one.ended])})"

    return Wording(
        network.labels.who,
        key_text,
        lambda ns: apart(0, ns),
        lambda declaration: in_packet(declaration.declared),
        lambda declaration: in_packet(declaration.ended),
        closed_in,
        all_ended_in,
    )


def _advice(
    network: Network, declaration: Declaration, found: absence.Gone[Declaration]
) -> list[str]:
    who = network.labels.who(declaration.sender)
    if found.kept_by is not None:
        return [f"Look at {who}: why did it undeclare an entity that was still announced to it?"]
    if found.is_unseen:
        return [f"Capture at {who}, on all of its links: which node was behind it?"]
    if found.how == UNDECLARED:
        return [f"Find out why {who} undeclared it: is the program still running?"]
    if found.how == CLOSED:
        closer = network.labels.who(found.culprit)
        return [f"Find out why {closer} closed the session: did the program end?"]
    if found.how == LOST:
        other = network.labels.who(declaration.receiver)
        return [f"Did {who} crash, or did the network between it and {other} fail?"]
    return []
