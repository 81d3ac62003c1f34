"""The stories of `zenlake why` for the chosen captures: causes, steps and advice."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import Any, NamedTuple

from zenlake.report.bounds import (
    STORIES_MAX,
    STORY_ADVICE_MAX,
    STORY_CAPTURES_MAX,
    STORY_STEPS_MAX,
)
from zenlake.report.commands import packets_command
from zenlake.report.database import Database
from zenlake.report.names import Names
from zenlake.report.text import cut
from zenlake.semantics.causes import CAUSES, WELL, rank
from zenlake.semantics.citations import cited_text
from zenlake.why import Scope, report
from zenlake.why.from_lake import read_tables
from zenlake.why.story import Story


class CaptureStory(NamedTuple):
    """A story, and its capture."""

    capture: str
    first_ns: int
    story: Story


def stories(database: Database, names: Names, queries: list[dict[str, Any]]) -> dict[str, Any]:
    """The worst first; causes alternate, so that a frequent one does not hide others.

    Stories of `queries`, which the page lists one by one, are always included; each query gets the
    index of its story.
    """
    captures = [row[0] for row in database.rows("SELECT capture FROM chosen_captures ORDER BY 1")]
    read = captures[:STORY_CAPTURES_MAX]
    found = [found_story for capture in read for found_story in _of_capture(database, capture)]
    places = {(query["capture"], query["packet"]): query for query in queries}
    listed = [
        found_story
        for place, found_story in enumerate(_mixed(found))
        if place < STORIES_MAX or _place(found_story, names) in places
    ]
    for number, found_story in enumerate(listed):
        query = places.get(_place(found_story, names))
        if query is not None:
            query.setdefault("story", number)
    return {
        "stories": [_story(found_story, names) for found_story in listed],
        "inAll": len(found),
        "capturesLeftOut": len(captures) - len(read),
    }


def _place(found_story: CaptureStory, names: Names) -> tuple[int, int | None]:
    """Capture and packet of a query; the packet is None for other stories."""
    packet = found_story.story.at.packet if found_story.story.subject == "query" else None
    return names.capture(found_story.capture), packet


def _of_capture(database: Database, capture: str) -> Iterator[CaptureStory]:
    """The failures of one capture."""
    selection = database.selection
    scope = Scope(key=selection.key)
    for evidence in read_tables(database.connection, scope, capture):
        for story in report(evidence, scope, is_ungrouped=True).stories:
            is_chosen = selection.node is None or selection.node in story.nodes
            if is_chosen and story.failed and story.cause not in WELL:
                yield CaptureStory(capture, evidence.first_ns, story)


def _mixed(found: list[CaptureStory]) -> list[CaptureStory]:
    turns: dict[str, int] = {}
    placed = []
    for found_story in sorted(found, key=lambda one: (rank(one.story.cause), one.story.at.time_ns)):
        cause = found_story.story.cause
        turns[cause] = turns.get(cause, 0) + 1
        placed.append((turns[cause], found_story))
    return [found_story for _, found_story in sorted(placed, key=itemgetter(0))]


def _story(found_story: CaptureStory, names: Names) -> dict[str, Any]:
    story = found_story.story
    steps = story.ordered_steps()
    packets = [*story.packets, *(step.at.packet for step in steps if step.at.packet is not None)]
    return {
        "capture": names.capture(found_story.capture),
        "subject": story.subject,
        "cause": story.cause,
        "meaning": CAUSES[story.cause].meaning,
        "see": cited_text(CAUSES[story.cause].page),
        "headline": cut(story.headline),
        "key": names.key(story.key),
        "nodes": [names.node(zid) for zid in story.nodes],
        "packet": story.at.packet,
        "steps": [
            [(step.at.time_ns - found_story.first_ns) / 1e9, step.at.packet, cut(step.text)]
            for step in steps[:STORY_STEPS_MAX]
        ],
        "moreSteps": max(0, len(steps) - STORY_STEPS_MAX),
        "advice": list(map(cut, story.advice[:STORY_ADVICE_MAX])),
        "command": packets_command(found_story.capture, packets),
    }
