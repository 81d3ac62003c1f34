"""Stories of failures that our encoder wrote, compared with the truth of each scene."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.why import made_traffic
from tests.why.bundled_stories import DATA, NAMES, path_of, report_of, story_of, truth_of
from tests.why.made_traffic import ASKER, OTHER, SERVER
from tests.why.scene import ROUTER


@pytest.mark.parametrize("name", made_traffic.SCENES)
def test_scenes_are_what_is_checked_in(name: str, tmp_path: Path) -> None:
    made = tmp_path / "scene.pcapng"
    truth = made_traffic.write(name, made)
    assert gzip.decompress(Path(path_of(name)).read_bytes()) == made.read_bytes()
    assert json.loads(json.dumps(truth)) == truth_of(name)


def test_captures_are_small_and_all_have_a_truth() -> None:
    assert len(NAMES) >= 15
    for name in NAMES:
        assert (DATA / f"{name}.pcapng.gz").stat().st_size < 30_000
        truth = truth_of(name)
        assert truth.get("row", "").startswith("Row ") or truth["what"]


def test_reply_after_final_blames_the_replier() -> None:
    truth = truth_of("late_reply")
    [story] = report_of("late_reply").stories
    assert (story.cause, story.culprit) == ("reply_after_final", SERVER)
    assert {truth["final"], truth["late"]} <= set(story.packets)
    assert f"final response in packet {truth['final']}" in story.headline
    assert f"2.0 ms later (packet {truth['late']})" in story.headline
    assert "1 answer came in time" in story.headline


def test_dropped_by_the_router() -> None:
    truth = truth_of("dropped")
    story = story_of("dropped", "publication", "lidar/points")
    assert (story.cause, story.culprit) == ("congestion_drop", ROUTER)
    assert set(truth["dropped"]) <= set(story.packets)
    assert "3 of 11 did not reach client b200" in story.headline


def test_loss_on_a_link_is_the_cause() -> None:
    truth = truth_of("dropped")
    story = story_of("dropped", "publication", "gps/fix")
    assert story.cause == "lost_on_link"
    assert {*truth["lost"], truth["gap_seen"]} <= set(story.packets)
    assert "2 of 6 did not reach client d400" in story.headline
    assert OTHER in story.nodes


def test_fragments_that_were_given_up() -> None:
    truth = truth_of("dropped")
    story = story_of("dropped", "publication", "lidar/image")
    assert story.cause == "incomplete_fragments"
    assert {truth["image"], truth["given_up"]} <= set(story.packets)


def test_ghost_token_blames_the_router() -> None:
    truth = truth_of("ghost_token")
    story = story_of("ghost_token", "token", "alive/arm")
    assert (story.cause, story.culprit) == ("ghost_token", ROUTER)
    assert truth["announced"] in story.packets
    assert {SERVER, ASKER, ROUTER} == set(story.nodes)
    assert story_of("ghost_token", "token", "alive/leg").cause == "alive"


def test_token_that_is_missing_after_a_reconnect() -> None:
    stories = report_of("lost_after_reconnect").stories
    [story] = [one for one in stories if one.subject == "token"]
    assert {one.cause for one in stories} - {story.cause} == {"session_lost", "reconnected"}
    assert (story.cause, story.culprit) == ("missing_after_reconnect", SERVER)
    assert (story.subject, story.key) == ("token", "alive/arm")
    assert f"(packet {truth_of('lost_after_reconnect')['first']})" in story.headline


def test_token_that_was_announced_twice() -> None:
    truth = truth_of("doubled_token")
    [story] = [one for one in report_of("doubled_token").stories if one.subject == "token"]
    assert (story.cause, story.culprit, story.failed) == ("doubled_token", ROUTER, True)
    assert set(story.packets) == {truth["first"], truth["second"]}


def test_token_that_was_not_announced() -> None:
    truth = truth_of("unannounced_token")
    [story] = report_of("unannounced_token").stories
    assert (story.cause, story.culprit) == ("token_not_told", ROUTER)
    assert {truth["alive"], truth["asked"]} <= set(story.packets)


def test_two_peers_on_one_router() -> None:
    truth = truth_of("two_peers")
    query, publication = report_of("two_peers").stories
    assert (query.subject, query.cause, query.culprit) == ("query", "not_relayed", SERVER)
    assert {truth["asked"], truth["declared"]} <= set(query.packets)
    assert (publication.subject, publication.cause) == ("publication", "not_relayed")
    assert truth["published"] in publication.packets
