"""Publishers and queriers without a match, liveliness queries without D_FINAL, idle subscribers.

After a publisher's interest is answered, its node sends only publications that match a subscriber;
a key without subscribers is not in the capture (behaviour reference §3.2).
"""

from __future__ import annotations

from shlex import quote
from typing import Final, NamedTuple

from zenlake.why.absence import add_declaration, explain_absence
from zenlake.why.declaration_end import describe_end
from zenlake.why.formatting import apart, capitalized, capture_again, key_text
from zenlake.why.network import Network
from zenlake.why.records import Declaration, InterestRecord
from zenlake.why.scope import intersects
from zenlake.why.story import Story
from zenlake.why.undelivered import QUIET_NS_MIN, silences

_PATIENCE_NS: Final = 1_000_000_000


class _Waiting(NamedTuple):
    """An endpoint that waits for matches, and what its node does without one."""

    subject: str
    entity: str
    verb: str
    held: str


_KINDS: Final = {
    "S": _Waiting("publisher", "subscriber", "publishes", "publications stay in the node"),
    "Q": _Waiting("querier", "queryable", "asks for", "queries return at once, empty"),
}


def _waiting(network: Network, interest: InterestRecord) -> tuple[_Waiting, str] | None:
    """The endpoint that announced the interest, and its key; None if it published something."""
    letter = next((one for one in "SQ" if one in interest.options), None)
    key = interest.key
    if letter is None or key is None or "R" not in interest.options:
        return None
    if letter == "S" and network.sent_on(interest.sender, key):
        return None
    return _KINDS[letter], key


def waiting_story(network: Network, interest: InterestRecord) -> Story | None:
    """The story of a publisher or querier to which no match was ever announced, else None."""
    found = _waiting(network, interest)
    if found is None or interest.final_ns is None:
        return None
    (subject, entity, verb, held), key = found
    if any(
        one.sender == interest.receiver
        for one in network.announced_matching(interest.sender, entity, key)
    ):
        return None
    labels = network.labels
    who, router = labels.who(interest.sender), labels.who(interest.receiver)
    absence = explain_absence(network, interest.receiver, interest.sender, entity, key, interest.at)
    story = Story(subject, "not_passed_on", interest.at, key, interest.session)
    story.involve(interest.sender, interest.receiver)
    story.cite(interest.at)
    story.add(interest.at, f"{who} announces to {router} that it {verb} {key_text(key)}")
    why = f"{router} announced no {entity} to it"
    if absence is not None:
        if absence.cause == "not_visible":
            absence.cause = f"no_{entity}"
            absence.sentence = why
        absence.add_to(story, network)
        why = absence.sentence
    story.headline = f"{subject.capitalize()} of {key_text(key)} in {who}: {held}. Why: {why}."
    return story


def abandoned_story(network: Network, interest: InterestRecord) -> Story | None:
    """A publisher or querier that outlived its last subscriber or queryable.

    None if publications are in the capture: their story reports it.
    """
    found = _waiting(network, interest)
    if found is None:
        return None
    (subject, entity, _, held), key = found
    silence = next(
        (one for one in silences(network, interest) if one.quiet_ns >= QUIET_NS_MIN), None
    )
    if silence is None:
        return None
    who = network.labels.who(interest.sender)
    gone = describe_end(network, silence.last, silence.since)
    story = Story(subject, "gone", interest.at, key, interest.session, is_note=True)
    story.culprit = gone.culprit
    story.involve(interest.sender, interest.receiver)
    for declaration in gone.path[::-1]:
        add_declaration(story, network, declaration, network.evidence.last_ns)
        story.cite(declaration.ended)
    story.advice += gone.advice
    story.set_headline(
        f"{subject.capitalize()} of {key_text(key)} in {who}. {silence.when()} no "
        f"{entity} was announced to it: {held}, and are not in the capture. Why: {gone.sentence}."
    )
    return story


def unanswered_story(network: Network, interest: InterestRecord) -> Story | None:
    """A liveliness get, or subscriber with history, that never received its D_FINAL."""
    if "T" not in interest.options or interest.mode == "future" or interest.final_ns is not None:
        return None
    labels = network.labels
    end_ns = network.session_end_ns(interest.session)
    if end_ns - interest.at.time_ns <= _PATIENCE_NS:
        return None
    who, router = labels.who(interest.sender), labels.who(interest.receiver)
    key = key_text(interest.key)
    story = Story("liveliness", "final_missing", interest.at, interest.key, interest.session)
    story.culprit = interest.receiver
    story.involve(interest.sender, interest.receiver)
    story.add_evidence(
        interest.at, f"{who} asks {router} for tokens of {key} (interest {interest.id})"
    )
    if network.capture_gap(interest.session, interest.at.time_ns, end_ns):
        story.cause = "capture_incomplete"
    story.set_headline(
        f"Liveliness query of {who} for {key} (packet {interest.at.packet}): {router} never sent "
        f"D_FINAL, which ends the list of tokens, in {apart(interest.at.time_ns, end_ns)}."
    )
    if story.cause == "capture_incomplete":
        story.advice += capture_again(network.holes(interest.session, interest.at.time_ns))
        return story
    story.advice.append(f"Look at {router}: which version is it, does it wait for another router?")
    return story


def idle_subscriber_story(
    network: Network, declaration: Declaration, explained: set[str | None]
) -> Story | None:
    """A subscriber that received nothing while a similar key was published.

    None if the published key is in `explained`: it has a story already.
    """
    key = declaration.key
    if declaration.entity != "subscriber" or key is None or declaration.declared is None:
        return None
    if network.role(declaration.sender) == "router":
        return None
    if any(intersects(flow.key, key) for flow in network.received_by(declaration.sender)):
        return None
    flows = [
        one for one in network.received_by(declaration.receiver) if one.sender != declaration.sender
    ]
    if any(intersects(flow.key, key) for flow in flows):
        return None  # the story of that publication explains it
    found = network.nearest(key, [flow.key for flow in flows])
    if found is None or found.declared in explained:
        return None
    labels = network.labels
    flow = next(one for one in flows if one.key == found.declared)
    story = Story("subscriber", found.cause, declaration.declared, key, declaration.session)
    story.involve(declaration.sender, declaration.receiver, flow.sender)
    add_declaration(story, network, declaration, flow.first.time_ns)
    story.add_evidence(flow.first, f"{labels.who(flow.sender)} publishes {key_text(flow.key)}")
    story.headline = (
        f"Subscriber {key_text(key)} of {labels.who(declaration.sender)} received nothing. "
        f"{capitalized(found.text)} "
        f"({labels.who(flow.sender)} published it in packet {flow.first.packet})."
    )
    story.culprit = declaration.sender
    story.advice.append(f"zenlake ke intersects {quote(key)} {quote(flow.key)}")
    return story
