"""The tables have the same stories of sessions as the capture."""

from __future__ import annotations

from typing import Any

import pytest

from tests.trace.recorded_sessions import TRUTH, path_of
from zenlake.lake import direct
from zenlake.why import CaptureStories, Scope, report
from zenlake.why.from_capture import read_capture
from zenlake.why.from_lake import read_snapshot


def stories_of(made: CaptureStories) -> list[Any]:
    return [*(story.as_json(made.evidence.roles) for story in made.stories), made.counts]


@pytest.mark.parametrize("name", sorted(TRUTH))
def test_capture_and_tables_have_the_same_stories(name: str) -> None:
    path, wanted = path_of(name), Scope()
    with direct.read([path]) as tables:
        [evidence] = read_snapshot(tables.snapshot(), wanted)
    assert stories_of(report(evidence, wanted)) == stories_of(
        report(read_capture(path, wanted), wanted)
    )
