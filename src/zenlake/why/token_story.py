"""The stories of liveliness tokens: ghosts, doubles, and tokens that were not announced."""

from __future__ import annotations

from collections.abc import Iterator

from zenlake.trace.timelines.origins import SPREAD_NS
from zenlake.why.absence import add_declaration
from zenlake.why.disjoint import difference
from zenlake.why.formatting import apart, capture_again, key_text
from zenlake.why.network import Network
from zenlake.why.records import Declaration, InterestRecord, Moment
from zenlake.why.scope import intersects
from zenlake.why.story import Story


def token_stories(network: Network, keys: list[str], explained: set[str | None]) -> Iterator[Story]:
    """Stories of the tokens of these keys.

    A key without problems gets one story, unless it is in `explained`.
    """
    for key in keys:
        declarations = [
            declaration for declaration in network.tokens[key] if not declaration.is_answer
        ]
        if not declarations:
            continue
        owners = [
            declaration
            for declaration in declarations
            if not _is_forwarded(network, declaration, declarations)
        ]
        found = [
            *_ghosts(network, key, declarations),
            *_doubles(network, key, declarations),
            *_unannounced(network, key, owners),
        ]
        if found or key not in explained:
            yield from found or [_alive(network, key, declarations, owners)]


def _is_forwarded(
    network: Network, declaration: Declaration, declarations: list[Declaration]
) -> bool:
    """Whether its sender forwarded the token of another node."""
    return any(one.receiver == declaration.sender for one in declarations) or (
        network.role(declaration.sender) == "router"
    )


def _story(network: Network, cause: str, key: str, at: Moment, *declarations: Declaration) -> Story:
    story = Story("token", cause, at, key, declarations[0].session if declarations else None)
    for declaration in declarations:
        add_declaration(story, network, declaration, network.evidence.last_ns)
        story.involve(declaration.sender, declaration.receiver)
    return story


def _ghosts(network: Network, key: str, declarations: list[Declaration]) -> Iterator[Story]:
    """Tokens announced to a watcher and not undeclared, though no owner is left."""
    labels = network.labels
    for announced in declarations:
        owners = [
            one
            for one in declarations
            if one.receiver == announced.sender and one.sender != announced.receiver
        ]
        if not owners or announced.declared is None:
            continue
        gone = max(owners, key=network.declaration_end_ns)
        gone_ns, until_ns = network.declaration_end_ns(gone), network.declaration_end_ns(announced)
        if (
            gone.ended is None
            or until_ns - gone_ns <= SPREAD_NS
            or announced.declared.time_ns > gone_ns
        ):
            continue
        story = _story(network, "ghost_token", key, announced.declared, *owners, announced)
        story.culprit = announced.sender
        how = "undeclared it" if gone.ended_by == "undeclare" else "was gone with its session"
        is_late = announced.ended_by == "undeclare"
        end = "and undeclared it late" if is_late else "and never undeclared it"
        story.headline = (
            f"Token {key_text(key)} is a ghost: {labels.who(gone.sender)} {how} "
            f"({labels.at(gone.ended)}), but {labels.who(announced.sender)} had announced "
            f"it to {labels.who(announced.receiver)} (packet {announced.declared.packet}) {end}: "
            f"it was shown alive for {apart(gone_ns, until_ns)} more."
        )
        story.cite(gone.ended, announced.declared)
        story.advice += [
            f"Look at {labels.who(announced.sender)}: it has to send U_TOKEN. Which version is it?",
            "Until it is fixed, the watcher can ask again: liveliness().get().",
        ]
        yield story


def _doubles(network: Network, key: str, declarations: list[Declaration]) -> Iterator[Story]:
    """Two declarations of one token to the same node, at the same time."""
    labels = network.labels
    for number, first in enumerate(declarations):
        for second in declarations[number + 1 :]:
            if second.declared is None or first.receiver != second.receiver:
                continue
            start_ns = second.declared.time_ns
            overlap_ns = min(map(network.declaration_end_ns, (first, second))) - start_ns
            if not first.is_alive(start_ns) or overlap_ns <= 0:
                continue
            story = _story(network, "doubled_token", key, second.declared, first, second)
            at = f"packet {second.declared.packet}"
            before = f"packet {first.declared.packet}" if first.declared else "before the capture"
            if first.sender == second.sender:
                what = "in two sessions: the older one was not closed yet"
                if first.session == second.session:
                    what = f"twice, as {first.id} and as {second.id}"
                receiver = labels.who(first.receiver)
                text = f"{labels.who(first.sender)} announced it to {receiver} {what}"
                story.advice.append("Until the older one ends, its end is not the token's end.")
            else:
                story.is_note = True
                both = f"{labels.who(first.sender)} and {labels.who(second.sender)}"
                text = f"both {both} declared it"
                story.advice.append(
                    "Watchers see one token, which goes when the last owner does. Put the node's "
                    "name or id into the key to distinguish them."
                )
            story.culprit = second.sender
            story.headline = (
                f"Token {key_text(key)} is doubled: {text} ({before} and {at}), "
                f"{apart(0, overlap_ns)} at the same time."
            )
            yield story


def _unannounced(network: Network, key: str, owners: list[Declaration]) -> Iterator[Story]:
    """Tokens that are alive at a node and not announced to a node that asked for them."""
    for owner in owners:
        for interest in network.watchers(owner.receiver):
            if interest.sender != owner.sender:
                story = _unannounced_to(network, key, owner, interest)
                if story is not None:
                    yield story


def _unannounced_to(
    network: Network, key: str, owner: Declaration, interest: InterestRecord
) -> Story | None:
    labels = network.labels
    asked_key = interest.key or "**"
    declared_ns = owner.declared_ns
    closed_ns = network.evidence.last_ns if interest.closed_ns is None else interest.closed_ns
    end_ns = min(network.declaration_end_ns(owner), closed_ns)
    both_ns = end_ns - max(declared_ns, interest.at.time_ns)
    if interest.mode == "current":
        is_due = owner.is_alive(interest.at.time_ns) and interest.final_ns is not None
    elif interest.mode == "future" and declared_ns <= interest.at.time_ns:
        is_due = False
    else:
        is_due = both_ns > SPREAD_NS
    if not intersects(asked_key, key):
        found = difference(asked_key, key)
        if found.cause != "at_chunk" or both_ns <= 0:
            return None
        story = _story(network, "at_chunk", key, owner.declared or interest.at, owner)
        story.add_evidence(
            interest.at, f"{labels.who(interest.sender)} asks for tokens of {asked_key}"
        )
        story.culprit = interest.sender
        story.headline = (
            f"Token {key_text(key)} is not seen by {labels.who(interest.sender)}: {found.text}."
        )
        if found.would_match:
            story.advice.append(f"An expression that matches: {key_text(found.would_match)}")
        return story
    if not is_due or _was_announced(network, key, interest):
        return None
    story = _story(network, "token_not_told", key, owner.declared or interest.at, owner)
    story.add_evidence(interest.at, f"{labels.who(interest.sender)} asks for tokens of {asked_key}")
    if interest.final_ns is not None:
        final = Moment(interest.final_ns, None)
        story.add(final, f"{labels.who(owner.receiver)} has sent all tokens (D_FINAL)")
    story.involve(interest.sender)
    story.culprit = owner.receiver
    story.advice += [
        f"Look at {labels.who(owner.receiver)}: it has to answer with D_TOKEN. Which version is "
        "it?",
        "Until it is fixed, let the owner declare the token again.",
    ]
    if network.are_peers(owner.sender, interest.sender):
        story.cause = "not_relayed"
    elif network.capture_gap(interest.session, declared_ns, network.evidence.last_ns):
        story.cause = "capture_incomplete"
        story.advice = capture_again(network.holes(interest.session, declared_ns))
    since = f" since packet {owner.declared.packet}" if owner.declared else ""
    story.headline = (
        f"Token {key_text(key)} of {labels.who(owner.sender)} is alive{since}, and "
        f"{labels.who(interest.sender)}, who asked for {key_text(asked_key)} (packet "
        f"{interest.at.packet}), did not learn of it from {labels.who(owner.receiver)}."
    )
    return story


def _was_announced(network: Network, key: str, interest: InterestRecord) -> bool:
    return any(
        declaration.sender == interest.receiver and declaration.receiver == interest.sender
        for declaration in network.tokens[key]
    )


def _alive(
    network: Network, key: str, declarations: list[Declaration], owners: list[Declaration]
) -> Story:
    labels = network.labels
    first = (owners or declarations)[0]
    at = first.declared or first.ended or Moment(network.evidence.first_ns, None)
    story = _story(network, "alive", key, at, *declarations)
    names = ", ".join(dict.fromkeys(labels.who(one.sender) for one in owners or declarations))
    watchers = [declaration for declaration in declarations if declaration not in owners]
    watching = ", ".join(dict.fromkeys(labels.who(one.receiver) for one in watchers))
    story.headline = f"Token {key_text(key)} of {names}: nothing wrong" + (
        f"; announced to {watching}." if watching else "; announced to no node."
    )
    return story
