"""Stories of networks of real routers and older releases, against what applications saw."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.why.bundled_stories import packets_of, report_of, story_of, truth_of
from tests.why.test_partial_captures import report_without
from zenlake.capture.packet import Packet
from zenlake.why import Story

LINE = "line_of_routers"
_FIRST_LINK, _SECOND_LINK, _ASKER = 0, 1, 2


def is_on(packet: Packet, *links: int) -> bool:
    """Whether a packet is on one of these taps, whose number is in the addresses (10.0.N.1)."""
    return packet.data[28] in links


def gone_story(stories: list[Story], how: str) -> Story:
    """The story of the query after the queryable was gone."""
    *_, story = sorted(
        (one for one in stories if one.key == f"srv/{how}"), key=lambda story: story.at
    )
    return story


def test_tokens_of_a_router_that_counts_from_0_reach_watchers() -> None:
    truth = truth_of("old_tokens")
    assert all(["DELETE", "alive/before"] in seen for seen in truth["seen"].values())
    assert not report_of("old_tokens").failed
    by_key = {story.key: story for story in report_of("old_tokens", key="alive/**").stories}
    assert {story.cause for story in by_key.values()} == {"alive"}
    assert set(truth["watchers"].values()) <= set(by_key["alive/before"].nodes)


def test_tokens_that_end_with_their_router_are_no_failure() -> None:
    """Link state ends its declarations: routers do not undeclare them to each other."""
    assert ["DELETE", "alive/behind"] in truth_of(LINE)["seen"]
    made = report_of(LINE, key="alive/**")
    assert {one.cause for one in made.stories if one.subject == "token"} == {"alive"}


@pytest.mark.parametrize("how", ["undeclared", "closed", "killed"])
def test_end_is_followed_to_the_node_where_it_began(how: str) -> None:
    truth = truth_of(LINE)
    _, middle, last = truth["routers"]
    assert (truth["before"][how], truth["after"][how]) == (1, 0)
    story = gone_story(report_of(LINE).stories, how)
    owner = truth["servers"][how]
    assert (story.cause, story.culprit) == ("gone", owner)
    assert {owner, middle, last} <= set(story.nodes)
    said = {
        "undeclared": "was undeclared",
        "closed": f"client {owner[:4]} closed the session with router {last[:4]}",
        "killed": f"ended with its session with router {last[:4]}, which was lost",
    }
    assert f"the queryable srv/{how} of client {owner[:4]} " in story.headline
    assert said[how] in story.headline
    ends = [
        packets_of(LINE, "DECLARE/U_QUERYABLE", sender, key=f"srv/{how}")[-1]
        for sender in (last, middle)
    ]
    relays = f"router {last[:4]} and router {middle[:4]} passed that on (packets"
    assert f"{relays} {ends[0]} and {ends[1]})" in story.headline
    assert f"client {owner[:4]}" in story.advice[0]


def test_queryables_behind_a_killed_router_are_gone() -> None:
    truth = truth_of(LINE)
    _, middle, last = truth["routers"]
    story = gone_story(report_of(LINE).stories, "behind")
    assert (story.cause, story.culprit) == ("gone", last)
    owner = truth["servers"]["behind"]
    assert f"of router {last[:4]} (received from client {owner[:4]})" in story.headline
    assert f"its session with router {middle[:4]}, which was lost" in story.headline
    assert owner in story.nodes


def test_late_declaration_blames_the_client_and_not_a_router() -> None:
    truth = truth_of(LINE)
    story = gone_story(report_of(LINE).stories, "late")
    assert (story.cause, story.culprit) == ("not_yet_declared", truth["late"])
    [declared] = packets_of(LINE, "DECLARE/D_QUERYABLE", truth["late"])
    assert f"later (packet {declared})" in story.headline


def test_without_the_last_links_the_last_router_is_named(tmp_path: Path) -> None:
    last = truth_of(LINE)["routers"][2]
    kept = (_FIRST_LINK, _SECOND_LINK, _ASKER)
    made = report_without(LINE, tmp_path, lambda packet: is_on(packet, *kept))
    for how in ("undeclared", "closed", "killed"):
        story = gone_story(made.stories, how)
        assert (story.cause, story.culprit) == ("gone", last)
        who = f"who had declared it to router {last[:4]} is not in the capture"
        assert who in story.headline
        assert f"Capture at router {last[:4]}" in story.advice[0]


def test_router_that_went_unseen_is_a_possibility(tmp_path: Path) -> None:
    """Only link state explains it: neither access control nor a full queue is to blame."""
    kept = (_FIRST_LINK, _ASKER)
    made = report_without(LINE, tmp_path, lambda packet: is_on(packet, *kept))
    story = gone_story(made.stories, "behind")
    assert story.cause == "not_visible"
    assert "it has that from another router, which may be gone" in story.headline


def test_links_that_are_not_captured_are_noticed(tmp_path: Path) -> None:
    """Two clients of the first router alone: a reply came from somewhere."""
    watcher = 8
    made = report_without(LINE, tmp_path, lambda packet: is_on(packet, _ASKER, watcher))
    assert made.counts["query"] == {"answered": 5, "not_visible": 5}
    assert "is on none of the captured links" in made.stories[0].headline


LAST = "after_the_last"


def test_publications_that_never_left_the_publisher_are_possible() -> None:
    truth = truth_of(LAST)
    assert (truth["sent"]["cell/temp"], truth["got"]["cell/temp"]) == (36, 26)
    story = story_of(LAST, "publication", "cell/temp")
    assert (story.cause, story.failed, story.culprit) == ("gone", False, truth["listener"])
    *_, undeclared = packets_of(LAST, "DECLARE/U_SUBSCRIBER", None, truth["talker"], "cell/temp")
    assert story.headline.startswith("26 publications of cell/temp")
    assert (
        f"delivered to client {truth['listener'][:4]}. From packet {undeclared} on ("
        in story.headline
    )
    assert "what it published in that time, if anything, stayed in it" in story.headline
    assert "10" not in story.headline  # the number cannot be known


def test_subscriber_comes_back() -> None:
    truth = truth_of(LAST)
    story = story_of(LAST, "publication", "cell/back")
    [since] = packets_of(LAST, "DECLARE/U_SUBSCRIBER", None, truth["talker"], "cell/back")
    until = packets_of(LAST, "DECLARE/D_SUBSCRIBER", None, truth["talker"], "cell/$*k")[0]
    assert f"From packet {since} to packet {until} (" in story.headline
    assert truth["got"]["cell/back"] + truth["got"]["again"] == 8
    assert story.headline.startswith("8 publications")


def test_publications_that_only_a_router_received_are_counted() -> None:
    truth = truth_of(LAST)
    lost = truth["sent"]["raw/x"] - truth["got"]["raw/**"]
    story = story_of(LAST, "publication", "raw/x")
    assert (story.cause, story.failed) == ("gone", False)
    assert f"except {lost} publications that reached no subscriber" in story.headline
    assert story.reached == [truth["listener"]]


def test_querier_whose_queryable_is_gone() -> None:
    truth = truth_of(LAST)
    assert truth["answers"] == [1, 0]
    [asked] = packets_of(LAST, "REQUEST", truth["talker"])  # the second never left
    story = story_of(LAST, "querier", "srv/q")
    assert (story.cause, story.failed, story.culprit) == ("gone", False, truth["server"])
    assert asked < story.packets[-1]


def test_no_failure_while_a_subscriber_exists(tmp_path: Path) -> None:
    """The same capture, which ends before anybody goes."""
    first = packets_of(LAST, "DECLARE/U_QUERYABLE")[0]
    made = report_without(LAST, tmp_path, lambda packet: packet.number < first)
    assert made.counts["publication"] == {"delivered": 3}
    assert made.stories == []
