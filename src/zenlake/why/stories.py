"""Stories: all stories of one capture, the worst first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from zenlake.semantics.causes import WELL, rank
from zenlake.trace.timelines.origins import end_with_their_routers
from zenlake.why.group_story import group_stories
from zenlake.why.link_story import link_stories
from zenlake.why.network import Network
from zenlake.why.publication_story import origins, publication_story
from zenlake.why.query_story import query_story
from zenlake.why.query_trees import QueryTree, query_trees
from zenlake.why.reconnect_story import reconnect_stories
from zenlake.why.records import Evidence
from zenlake.why.router_story import router_stories
from zenlake.why.scope import Scope
from zenlake.why.session_story import session_stories
from zenlake.why.story import Story
from zenlake.why.token_story import token_stories
from zenlake.why.waiting_story import (
    abandoned_story,
    idle_subscriber_story,
    unanswered_story,
    waiting_story,
)


@dataclass
class CaptureStories:
    """The stories of one capture, and how often each cause was found."""

    evidence: Evidence
    stories: list[Story] = field(default_factory=list)
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    """The number of stories of each cause, by subject, successes included."""

    @property
    def failed(self) -> bool:
        return any(story.failed for story in self.stories)


def report(evidence: Evidence, scope: Scope, *, is_ungrouped: bool = False) -> CaptureStories:
    """The stories in the scope; without a selection, all that did not go well.

    Stories of the same group are shown once, unless `is_ungrouped` is set or a query is named.
    """
    is_ungrouped = is_ungrouped or scope.query is not None
    network = Network(evidence)
    end_with_their_routers(network, evidence.declarations)
    made = CaptureStories(evidence)
    is_asked = scope.key is not None or scope.query is not None or scope.packet is not None
    groups: dict[tuple[object, ...], Story] = {}
    for story in _stories(network, scope):
        if scope.packet is not None and not story.mentions(scope.packet):
            continue
        made.counts.setdefault(story.subject, Counter())[story.cause] += 1
        if is_asked or not (story.cause in WELL or _is_vague(story)):
            first = story if is_ungrouped else groups.setdefault(story.group, story)
            if first is story:
                made.stories.append(story)
            else:
                first.repeat(story)
    made.stories.sort(
        key=lambda story: (not story.failed, rank(story.cause), story.at.time_ns, story.key or "")
    )
    return made


def _is_vague(story: Story) -> bool:
    """Whether a story is only counted if the scope does not select it.

    These are publications whose delivery the capture cannot show, and sessions whose end had no
    consequence.
    """
    if story.subject == "session":
        return story.is_note
    return story.subject == "publication" and story.cause == "not_visible"


def _stories(network: Network, scope: Scope) -> Iterator[Story]:
    found = query_trees(network.evidence.queries)
    if scope.query is not None:
        found = _referenced(found, scope.query)
    for tree in found:
        yield query_story(network, tree)
    if scope.query is None:
        yield from _key_stories(network, scope)


def _key_stories(network: Network, scope: Scope) -> Iterator[Story]:
    explained: set[str | None] = set()
    lost: set[int] = set()
    for flow in origins(network):
        if scope.has_key(flow.key):
            story = publication_story(network, flow)
            if story.cause != "delivered":
                explained.add(flow.key)
                lost.update(story.packets)
            yield story
    seen = set()
    for interest in network.evidence.interests:
        place = (interest.sender, interest.receiver, interest.options, interest.key)
        if interest.key is not None and scope.has_key(interest.key) and place not in seen:
            seen.add(place)
            for waiting in (waiting_story, abandoned_story, unanswered_story):
                found = waiting(network, interest)
                if found is not None:
                    yield found
    keys = [key for key in network.tokens if scope.has_key(key)]
    missing = [one for one in reconnect_stories(network) if scope.has_key(one.key)]
    yield from missing
    yield from token_stories(network, keys, {one.key for one in missing})
    for declaration in network.evidence.declarations:
        if declaration.key is not None and scope.has_key(declaration.key):
            idle = idle_subscriber_story(network, declaration, explained)
            if idle is not None:
                yield idle
    carrying = _matching_sessions(network, scope)
    known: set[str] = set()
    for one in (
        *router_stories(network, known),
        *session_stories(network, known),
        *group_stories(network),
    ):
        if scope.key is None or one.session in carrying:
            yield one
    for story in link_stories(network):
        if not lost.issuperset(story.packets) and (scope.key is None or story.session in carrying):
            yield story


def _matching_sessions(network: Network, scope: Scope) -> set[str | None]:
    """Sessions that carried messages in the scope."""
    found: set[str | None] = {query.session for query in network.evidence.queries}
    for flow in network.evidence.flows.values():
        if scope.has_key(flow.key):
            found.add(flow.session)
    for declaration in network.evidence.declarations:
        if declaration.key is not None and scope.has_key(declaration.key):
            found.add(declaration.session)
    return found


def _referenced(found: list[QueryTree], reference: str) -> list[QueryTree]:
    """Queries by request id or trace id, or by session and request id.

    If no query begins with this session and request id, they may be those of a later hop.
    """
    session, _, digits = reference.rpartition("/")
    number = int(digits)
    if not session:
        return [one for one in found if number in (one.query.request_id, one.query.trace_id)]
    place = (session, number)
    begun = [one for one in found if (one.query.session, one.query.request_id) == place]
    return begun or [
        one for one in found if any((h.session, h.request_id) == place for h in one.hops())
    ]
