"""Stories of declarations that a node did not make again after a reconnect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from zenlake.why.absence import add_declaration
from zenlake.why.formatting import apart, in_packet, key_text
from zenlake.why.network import Network
from zenlake.why.records import Moment, SessionRecord
from zenlake.why.story import Story

_GRACE_NS: Final = 1_000_000_000
"""The time that a node has to declare everything again."""


def reconnect_stories(network: Network) -> Iterator[Story]:
    for zid in {
        zid
        for session in network.evidence.sessions.values()
        for zid in (session.opener, session.acceptor)
        if zid is not None
    }:
        if network.role(zid) == "router":
            continue
        sessions = sorted(network.sessions_of(zid), key=lambda session: session.start_ns)
        for old in sessions:
            other = old.other(zid)
            new = next(
                (
                    one
                    for one in sessions
                    if one.start_ns > old.start_ns and one.other(zid) == other and one.is_open
                ),
                None,
            )
            if new is not None and old.closed_ns is not None:
                yield from _missing(network, zid, old, new)


def _missing(network: Network, zid: str, old: SessionRecord, new: SessionRecord) -> Iterator[Story]:
    labels = network.labels
    until_ns = network.session_end_ns(new.id)
    if until_ns - new.start_ns <= _GRACE_NS:
        return
    for entity in ("token", "subscriber", "queryable"):
        declarations = network.announced_by(zid, entity)
        again = {declaration.key for declaration in declarations if declaration.session != old.id}
        for declaration in declarations:
            if (
                declaration.session != old.id
                or declaration.ended_by != "session"
                or declaration.key in again
            ):
                continue
            story = Story(
                "token" if entity == "token" else "declaration",
                "missing_after_reconnect",
                declaration.declared or declaration.ended or Moment(old.start_ns, None),
                declaration.key,
                new.id,
                culprit=zid,
            )
            story.involve(zid, declaration.receiver)
            add_declaration(story, network, declaration, network.evidence.last_ns)
            start = Moment(new.start_ns, None)
            other = labels.who(declaration.receiver)
            story.add(start, f"{labels.who(zid)} connects to {other} again")
            story.headline = (
                f"{entity.capitalize()} {key_text(declaration.key)} of {labels.who(zid)} is "
                f"missing after a reconnect: declared before{in_packet(declaration.declared)}, its "
                f"session ended at {labels.since(old.closed_ns or 0)}, and in the "
                f"{apart(new.start_ns, until_ns)} of the new session (from "
                f"{labels.since(new.start_ns)}) it was not declared again."
            )
            story.advice += [
                f"Look at {labels.who(zid)}: it has to declare everything again when it "
                "reconnects.",
                "Until then, restart the program, or declare it again on the transport event.",
            ]
            yield story
