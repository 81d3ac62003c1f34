"""The stories of `why` in a page: with their queries, linked from findings, bounded."""

from __future__ import annotations

from typing import Any

import pytest

from tests.trace.sidecar import PATHS
from zenlake.keyexpr import intersects
from zenlake.lake import direct
from zenlake.report import Selection, stories
from zenlake.report.report import collect

CAPTURE = str(PATHS["queries"])


def page(**selection: str) -> dict[str, Any]:
    with direct.read([CAPTURE]) as tables:
        return collect(tables, Selection(**selection))


def test_every_failed_query_has_its_story() -> None:
    data = page()
    failed = [one for one in data["waterfall"]["queries"] if one["verdict"] in ("timeout", "error")]
    assert len(failed) == 7
    for query in failed:
        story = data["why"]["stories"][query["story"]]
        assert story["subject"] == "query"
        assert (story["capture"], story["packet"]) == (query["capture"], query["packet"])
        assert story["key"] == query["key"]
        assert query["packet"] in [packet for _, packet, _ in story["steps"]]


def test_findings_lead_to_an_item_of_their_kind() -> None:
    data = page()
    items = {one["item"] for one in data["findings"] if one["section"] == "queries" and one["item"]}
    verdicts = {data["waterfall"]["queries"][int(item.split("-")[1])]["verdict"] for item in items}
    assert {"timeout", "error"} <= verdicts
    for finding in data["findings"]:
        if finding["section"] == "violations":
            place = int(finding["item"].removeprefix("rule-"))
            assert data["violations"]["rules"][place][0] in finding["text"]


def test_a_key_narrows_stories() -> None:
    data = page(key="db/a/1")
    keys = {data["names"]["keys"][one["key"]] for one in data["why"]["stories"]}
    assert keys
    assert all(intersects(key, "db/a/1") for key in keys)
    whole = page()
    assert len(data["why"]["stories"]) < len(whole["why"]["stories"])


def test_stories_are_bounded_but_for_those_of_listed_queries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = page()
    monkeypatch.setattr(stories, "STORIES_MAX", 0)
    monkeypatch.setattr(stories, "STORY_STEPS_MAX", 2)
    data = page()
    assert data["why"]["inAll"] == whole["why"]["inAll"]
    queries = [one for one in data["waterfall"]["queries"] if "story" in one]
    assert len(data["why"]["stories"]) == len(queries)
    assert all(len(one["steps"]) <= 2 for one in data["why"]["stories"])
    assert any(one["moreSteps"] for one in data["why"]["stories"])
