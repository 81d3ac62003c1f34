"""Absence: why a node had no receiver for a query or publication."""

from __future__ import annotations

from dataclasses import dataclass, field
from shlex import quote

from zenlake.trace.timelines.absence import describe_late
from zenlake.trace.timelines.origins import path_to_origin
from zenlake.trace.timelines.unanswered import present
from zenlake.why.declaration_end import describe_end, wording
from zenlake.why.formatting import counted, key_text
from zenlake.why.hidden_links import hidden_link
from zenlake.why.network import Network
from zenlake.why.records import Declaration, Moment
from zenlake.why.story import Story


@dataclass(slots=True)
class Absence:
    """The cause, a sentence for the headline, and declarations and advice for the story."""

    cause: str
    sentence: str
    declarations: list[Declaration] = field(default_factory=list)
    """Declarations that explain it."""
    advice: list[str] = field(default_factory=list)
    culprit: str | None = None

    def add_to(self, story: Story, network: Network) -> None:
        story.cause = self.cause
        story.advice += self.advice
        story.culprit = self.culprit
        for declaration in self.declarations:
            add_declaration(story, network, declaration, story.at.time_ns)


def add_declaration(
    story: Story, network: Network, declaration: Declaration, until_ns: int
) -> None:
    """Adds the declaration as a step, and its end if that is not after `until_ns`."""
    labels = network.labels
    story.involve(declaration.sender)
    if declaration.declared is not None:
        how = ", complete" if declaration.complete else ""
        story.add_evidence(
            declaration.declared,
            f"{labels.who(declaration.sender)} declares {declaration.entity} "
            f"{key_text(declaration.key)} to {labels.who(declaration.receiver)}{how}",
        )
    if (
        declaration.ended is not None
        and declaration.ended_by is not None
        and declaration.ended.time_ns <= until_ns
    ):
        ended = f"{labels.who(declaration.sender)} undeclares"
        if declaration.ended_by == "session":
            pair = f"{labels.who(declaration.sender)} and {labels.who(declaration.receiver)}"
            ended = f"the session of {pair} ends, and with it"
        elif declaration.ended_by == "router":
            ended = f"the router is gone from which {labels.who(declaration.sender)} received"
        story.add(declaration.ended, f"{ended} {declaration.entity} {key_text(declaration.key)}")


def explain_absence(
    network: Network, node: str | None, asker: str | None, entity: str, key: str, at: Moment
) -> Absence | None:
    """Why `node` had no matching entity at that moment; None if it had one."""
    matching = network.matching(node, asker, entity, key)
    number = present([(one.declared_ns, one.ended_ns) for one in matching], at.time_ns)
    if number is None:
        return _never(network, node, asker, entity, key)
    declaration = matching[number]
    if declaration.is_alive(at.time_ns):
        return None
    if declaration.declared_ns > at.time_ns:
        return _declared_later(network, declaration, entity, at)
    return _gone(network, declaration, at)


def _declared_later(network: Network, declaration: Declaration, entity: str, at: Moment) -> Absence:
    sentence, path = describe_late(network, declaration, at.time_ns, wording(network))
    advice = [_DECLARED_LATER[entity]]
    return Absence("not_yet_declared", sentence, path[::-1], advice, path[-1].sender)


def _gone(network: Network, declaration: Declaration, at: Moment) -> Absence:
    made = describe_end(network, declaration, at)
    sentence = f"it was gone: {made.sentence}"
    return Absence("gone", sentence, made.path[::-1], made.advice, made.culprit)


def _never(network: Network, node: str | None, asker: str | None, entity: str, key: str) -> Absence:
    offers = [one for one in network.offers(node, asker, entity) if one.key is not None]
    found = network.nearest(key, [one.key for one in offers if one.key is not None])
    if found is not None:
        declaration = next(one for one in offers if one.key == found.declared)
        advice = [
            f"Use the same key on both sides: {key_text(key)} or {key_text(declaration.key)}."
        ]
        if found.would_match is not None:
            advice = [f"An expression that matches: {key_text(found.would_match)}"]
        advice.append(f"zenlake ke intersects {quote(found.declared)} {quote(key)}")
        nearest = "" if found.cause == "at_chunk" else f"no {entity} matches; the nearest: "
        first = path_to_origin(network, declaration)[-1]
        sentence = f"{nearest}{found.text} ({network.labels.who(first.sender)} declared it"
        sentence += f" in packet {first.declared.packet})" if first.declared else ")"
        return Absence(found.cause, sentence, [first], advice, first.sender)
    unseen = None if network.are_peers(node, asker) else hidden_link(network, node)
    if unseen is not None:
        who = network.labels.who(node)
        return Absence(
            "not_visible",
            f"{unseen}, so a {entity} may be declared on a link that is not captured",
            advice=[f"Capture at {who}, on all of its links."],
        )
    hidden = network.hidden
    if hidden is not None:
        return Absence(
            "not_visible",
            f"the capture shows no matching {entity} at {network.labels.who(node)}, but {hidden}",
            advice=["Capture without TLS, or from before the nodes connect."],
        )
    count = len({one.key for one in offers})
    known = f" ({counted(count, 'other key is', 'other keys are')} declared)" if count else ""
    sentence = f"no node ever declared a {entity} for it to {network.labels.who(node)}{known}"
    return Absence(f"no_{entity}", sentence, advice=[_NEVER_DECLARED[entity]])


_DECLARED_LATER = {
    "queryable": "Ask again after a moment, or wait until a querier's matching status is true.",
    "subscriber": "Publications are not kept for later subscribers: wait for the publisher's "
    "matching status, or use a storage or an advanced publisher with a cache.",
}
_NEVER_DECLARED = {
    "queryable": "Is the program with the queryable running and connected to the same network? "
    "A queryable with allowed_origin SESSION_LOCAL is not declared to others.",
    "subscriber": "Is the program with the subscriber running and connected to the same network? "
    "A subscriber with allowed_origin SESSION_LOCAL is not declared to others.",
}
