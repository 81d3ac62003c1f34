"""The stories of `why` in a page: with their queries, linked from findings, bounded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.trace.sidecar import PATHS
from zenlake.keyexpr import intersects
from zenlake.lake import direct
from zenlake.report import Selection, stories
from zenlake.report.report import collect

# In one process: the capture is read once.
pytestmark = pytest.mark.xdist_group("stories")


@pytest.fixture(scope="module")
def tables() -> Iterator[direct.CaptureTables]:
    with direct.read([str(PATHS["queries"])]) as found:
        yield found


@pytest.fixture(scope="module")
def whole(tables: direct.CaptureTables) -> dict[str, Any]:
    return collect(tables, Selection())


def test_every_failed_query_has_its_story(whole: dict[str, Any]) -> None:
    data = whole
    failed = [one for one in data["waterfall"]["queries"] if one["verdict"] in ("timeout", "error")]
    assert len(failed) == 7
    for query in failed:
        story = data["why"]["stories"][query["story"]]
        assert story["subject"] == "query"
        assert (story["capture"], story["packet"]) == (query["capture"], query["packet"])
        assert story["key"] == query["key"]
        assert query["packet"] in [packet for _, packet, _ in story["steps"]]


def test_findings_lead_to_an_item_of_their_kind(whole: dict[str, Any]) -> None:
    data = whole
    items = {one["item"] for one in data["findings"] if one["section"] == "queries" and one["item"]}
    verdicts = {data["waterfall"]["queries"][int(item.split("-")[1])]["verdict"] for item in items}
    assert {"timeout", "error"} <= verdicts
    for finding in data["findings"]:
        if finding["section"] == "violations":
            place = int(finding["item"].removeprefix("rule-"))
            assert data["violations"]["rules"][place][0] in finding["text"]


def test_a_key_narrows_stories(tables: direct.CaptureTables, whole: dict[str, Any]) -> None:
    data = collect(tables, Selection(key="db/a/1"))
    keys = {data["names"]["keys"][one["key"]] for one in data["why"]["stories"]}
    assert keys
    assert all(intersects(key, "db/a/1") for key in keys)
    assert len(data["why"]["stories"]) < len(whole["why"]["stories"])


def test_stories_are_bounded_but_for_those_of_listed_queries(
    tables: direct.CaptureTables, whole: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stories, "STORIES_MAX", 0)
    monkeypatch.setattr(stories, "STORY_STEPS_MAX", 2)
    data = collect(tables, Selection())
    assert data["why"]["inAll"] == whole["why"]["inAll"]
    queries = [one for one in data["waterfall"]["queries"] if "story" in one]
    assert len(data["why"]["stories"]) == len(queries)
    assert all(len(one["steps"]) <= 2 for one in data["why"]["stories"])
    assert any(one["moreSteps"] for one in data["why"]["stories"])
