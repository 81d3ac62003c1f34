"""Stories of networks of real routers and older releases, against what applications saw."""

from __future__ import annotations

from tests.why.told import report_of, truth_of


def test_watchers_of_a_router_that_counts_from_0_were_told() -> None:
    truth = truth_of("old_tokens")
    assert all(["DELETE", "alive/before"] in seen for seen in truth["seen"].values())
    assert report_of("old_tokens").stories == []
    told = {story.key: story for story in report_of("old_tokens", key="alive/**").stories}
    assert {story.cause for story in told.values()} == {"alive"}
    assert set(truth["watchers"].values()) <= set(told["alive/before"].nodes)
