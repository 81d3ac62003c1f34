"""Checks that a node keeps no state of entities, queries and links that have ended."""

from __future__ import annotations

from collections.abc import Sized
from typing import TYPE_CHECKING

from zenlake.routing.face import Face
from zenlake.testing.simulation.journal import InvariantError

if TYPE_CHECKING:
    from zenlake.testing.simulation.node import SimulatedNode


def check_gone(face: Face) -> None:
    """Check that nothing is left of a face whose link is over."""
    parts: list[Sized] = [face.interests, face.up_by_id, face.up_interests]
    parts += [face.branches, face.queries, *face.held, *face.announced]
    if any(len(part) for part in parts):
        raise InvariantError(f"{face} is gone, but some of its state is left")


def check_nothing_declared(node: SimulatedNode) -> None:
    """Check a node after everything was undeclared everywhere; the links are still open."""
    tables = node.dispatcher.tables
    kept: dict[str, Sized] = {
        f"{name} entities": table
        for name, table in zip(("subscriber", "queryable", "token"), tables.entities, strict=True)
    }
    kept["interests"] = tables.interests
    kept["query timers"] = node.dispatcher._queries.timers
    kept["interest timers"] = node.dispatcher._gateway_interests.timers
    kept["late tokens"] = node.dispatcher._announcer.deferred_tokens.timers
    kept["endings"] = node.dispatcher._announcer._endings._by_key
    for face in node.dispatcher.faces:
        for name in ("interests", "up_by_id", "up_interests", "branches", "queries"):
            kept[f"{name} of {face}"] = getattr(face, name)
        for name in ("held", "announced", "answered"):
            for kind, part in enumerate(getattr(face, name)):
                kept[f"{name}[{kind}] of {face}"] = part
        kept[f"aliased keys of {face}"] = face.aliased_keys
        if face.declaration_count or face.aliased_all:
            raise InvariantError(f"{node.name}: {face} still counts declarations")
    core = node.core
    kept["subscribers"] = core.subscribers.live
    kept["declared subscribers"] = core.subscribers._declared
    kept["subscriber keys"] = core.subscribers._by_key
    kept["queryables"] = core.queryables.live
    kept["declared queryables"] = core.queryables._declared
    kept["queryable keys"] = core.queryables._by_key
    kept["queries"] = core.queries.live
    kept["watchers"] = core.liveliness.watchers
    kept["tokens"] = core.liveliness._declared
    kept["tokens of others"] = core.liveliness._remote
    kept["token keys of others"] = core.liveliness._remote_keys
    kept["liveliness queries"] = core.liveliness._gets
    kept["sources"] = core.matching.sources
    kept["sources with listeners"] = core.matching._watched
    kept["subscribers of others"], kept["queryables of others"] = core.matching._remote
    kept["own interests"] = core.interests._by_id
    kept["own interests by content"] = core.interests._by_content
    for name, part in kept.items():
        if len(part):
            raise InvariantError(f"{node.name} keeps {len(part)} {name}")
    if core.queryables.unanswered:
        raise InvariantError(f"{node.name} keeps {core.queryables.unanswered} unanswered queries")


def check_no_complaints(node: SimulatedNode, is_lossy: bool) -> None:
    """Check that the node refused no message of a correct neighbour."""
    names = ["invalid_keys", "malformed_gossip", "redefined_aliases", "refused_aliases"]
    names += ["refused_declarations", "refused_interests", "refused_link_states"]
    names += ["refused_requests"]
    names += ["ignored_interests", "unexpected_messages", "reused_ids", "reused_request_ids"]
    if not is_lossy:
        names.append("unknown_aliases")
    for name in names:
        count = getattr(node.dispatcher.counters, name)
        if count:
            raise InvariantError(f"{node.name} counts {count} {name}")


def check_closed(node: SimulatedNode) -> None:
    """Check a node after its links are closed too."""
    if node.ends or len(node.dispatcher.faces) != 1:
        raise InvariantError(f"{node.name} keeps {node.dispatcher.faces}")
    if node.budget.held_bytes:
        raise InvariantError(f"{node.name} keeps {node.budget.held_bytes} bytes of fragments")
