"""Stories of failures of real nodes, compared with the results of the applications."""

from __future__ import annotations

import pytest

from tests.why.bundled_stories import messages_of, packets_of, report_of, story_of, truth_of
from zenlake.wire import Push, Put


def test_queryable_that_replies_and_holds_the_query() -> None:
    truth = truth_of("held_query")
    assert truth["get"]["errors"] == ["Timeout"]
    assert truth["get"]["replies"] == [["robot/arm/pose", "1 2 3"]]
    [story] = report_of("held_query").stories
    assert (story.subject, story.cause, story.failed) == ("query", "final_missing", True)
    assert story.culprit == truth["server"]
    [asked] = packets_of("held_query", "REQUEST", sender=truth["asker"])
    [passed] = packets_of("held_query", "REQUEST", receiver=truth["server"])
    [replied] = packets_of("held_query", "RESPONSE/REPLY/PUT", sender=truth["server"])
    assert {asked, passed, replied} <= set(story.packets)
    assert f"(1 reply, packet {replied}) and never sent its RESPONSE_FINAL" in story.headline
    assert "timed out after 1,500 ms" in story.headline
    assert any("query.drop()" in advice for advice in story.advice)


def test_consolidation_delivers_one_of_two_replies() -> None:
    truth = truth_of("consolidated")
    assert [value for _, value in truth["auto"]["replies"]] == ["81"]
    assert [value for _, value in truth["none"]["replies"]] == ["80", "81"]
    [story] = report_of("consolidated").stories
    assert (story.cause, story.failed) == ("consolidated", False)
    dropped, kept, *_ = packets_of("consolidated", "RESPONSE/REPLY/PUT", receiver=truth["asker"])
    assert "2 replies arrived, 1 delivered: consolidation latest" in story.headline
    assert f"(packet {dropped})" in story.headline
    assert {dropped, kept} <= set(story.packets)
    assert "NONE" in story.advice[0]


@pytest.mark.parametrize(
    ("get", "cause"),
    [
        ("nobody", "no_queryable"),
        ("mismatch", "key_mismatch"),
        ("incomplete", "not_complete"),
        ("quiet", "no_reply"),
        ("early", "not_yet_declared"),
        ("again", "answered"),
    ],
)
def test_get_returns_at_once(get: str, cause: str) -> None:
    truth = truth_of("nothing_came")
    get_truth = truth[get]
    gets = [one for one in truth.values() if isinstance(one, dict)]
    request_id = gets.index(get_truth) + 1
    assert bool(get_truth["replies"]) == (cause == "answered")
    [story] = report_of("nothing_came", query=str(request_id)).stories
    assert (story.key, story.cause) == (get_truth["selector"], cause)
    assert story.failed == (cause != "answered")
    assert story.at.packet in packets_of("nothing_came", "REQUEST", truth["asker"])


def test_the_right_declarations_are_named() -> None:
    truth = truth_of("nothing_came")
    stories = {story.cause: story for story in report_of("nothing_came").stories}
    for cause, key in (
        ("key_mismatch", "robot/1/status"),
        ("not_complete", "map/tile"),
        ("not_yet_declared", "lidar/scan"),
    ):
        [declared] = packets_of("nothing_came", "DECLARE/D_QUERYABLE", truth["server"], key=key)
        assert declared in stories[cause].packets
        assert f"packet {declared}" in stories[cause].headline
        assert stories[cause].culprit == truth["server"]
    assert "`status`, not `state`" in stories["key_mismatch"].headline
    [passed] = packets_of("nothing_came", "REQUEST", receiver=truth["server"], key="robot/quiet")
    assert passed in stories["no_reply"].packets


def test_one_of_three_never_finalises() -> None:
    truth = truth_of("one_silent")
    assert len(truth["get"]["replies"]) == 2
    assert truth["get"]["errors"] == ["Timeout"]
    [story] = report_of("one_silent").stories
    assert (story.cause, story.culprit) == ("timeout", truth["stuck"])
    [asked] = packets_of("one_silent", "REQUEST", receiver=truth["stuck"])
    assert asked in story.packets
    assert "timed out after 1,200 ms" in story.headline
    assert "passed it on to 3 nodes" in story.headline
    for zid in truth["answered"]:
        [final] = packets_of("one_silent", "RESPONSE_FINAL", sender=zid)
        [replied] = packets_of("one_silent", "RESPONSE/REPLY/PUT", sender=zid)
        answered = f"{zid[:4]} answered (1 reply, packet {replied}) and finalised (packet {final})"
        assert answered in story.headline
    assert f"{truth['stuck'][:4]} received it (packet {asked})" in story.headline


def test_the_router_dies() -> None:
    truth = truth_of("router_dies")
    assert truth["get"]["replies"] == []
    story, died = report_of("router_dies").stories
    assert (story.cause, story.culprit) == ("router_lost", truth["router"])
    assert (died.cause, died.culprit) == ("router_died", truth["router"])
    [asked] = packets_of("router_dies", "REQUEST", sender=truth["asker"])
    assert asked in story.packets
    assert "its timeout was 2,000 ms" in story.headline
    assert truth["server"] in story.nodes


def test_a_router_falls_silent() -> None:
    truth = truth_of("router_frozen")
    assert truth["before"]["replies"] == [["gripper/state", "open"]]
    assert truth["after"]["errors"] == ["Timeout"]
    well, stuck = sorted(
        report_of("router_frozen", key="gripper/state").stories, key=lambda one: one.at
    )
    assert (well.cause, stuck.cause) == ("answered", "timeout")
    assert stuck.culprit == truth["second"]
    _, passed = packets_of("router_frozen", "REQUEST", receiver=truth["second"])
    assert passed in stuck.packets
    assert "timed out after 1,000 ms" in stuck.headline
    *_, heard = [
        event.packet
        for event in messages_of("router_frozen")
        if event.sender_zid == truth["second"] and event.packet < passed
    ]
    assert (
        f"received it (packet {passed}) and has sent nothing since packet {heard}" in stuck.headline
    )


@pytest.mark.parametrize(
    ("key", "cause", "declared"),
    [
        ("robot/7/@meta/serial", "at_chunk", "robot/**"),
        ("cell/3/temp/raw", "key_mismatch", "cell/*/temp"),
        ("door/closed", "key_mismatch", "door/state"),
    ],
)
def test_publication_that_no_subscriber_received(key: str, cause: str, declared: str) -> None:
    truth = truth_of("at_chunks")
    assert key not in [one for got in truth["got"].values() for one in got]
    story = story_of("at_chunks", "publication", key)
    assert (story.cause, story.failed, story.culprit) == (cause, True, truth["listener"])
    [packet] = packets_of("at_chunks", "DECLARE/D_SUBSCRIBER", truth["listener"], key=declared)
    assert f"packet {packet}" in story.headline
    assert packets_of("at_chunks", "PUSH/PUT", truth["talker"], key=key)[0] in story.packets


def test_published_and_delivered() -> None:
    truth = truth_of("at_chunks")
    story = story_of("at_chunks", "publication", "robot/7/pose")
    assert truth["got"]["robot/**"] == ["robot/7/pose"]
    assert (story.cause, story.failed) == ("delivered", False)
    assert truth["listener"] in story.nodes


def test_publications_before_the_subscriber_are_no_failure() -> None:
    truth = truth_of("at_chunks")
    assert len(truth["got"]["gripper/force"]) == 1
    story = story_of("at_chunks", "publication", "gripper/force")
    assert (story.cause, story.failed) == ("not_yet_declared", False)
    assert "the first 3 reached no subscriber" in story.headline
    [declared] = packets_of("at_chunks", "DECLARE/D_SUBSCRIBER", key="gripper/force")
    assert f"packet {declared}" in story.headline


def test_publisher_without_a_subscriber_sends_nothing() -> None:
    assert packets_of("at_chunks", "PUSH/PUT", key="engine/rpm") == []
    story = story_of("at_chunks", "publisher", "engine/rpm")
    assert (story.cause, story.failed) == ("no_subscriber", True)
    assert packets_of("at_chunks", "INTEREST", key="engine/rpm")[0] in story.packets


def test_a_wildcard_query_does_not_match_an_at_chunk() -> None:
    truth = truth_of("at_chunks")
    assert truth["get"]["replies"] == []
    story = story_of("at_chunks", "query", "plant/**")
    assert (story.cause, story.culprit) == ("at_chunk", truth["listener"])
    assert "plant/**/@admin/**" in story.advice[0]


def test_doubled_and_hidden_tokens_are_explained() -> None:
    truth = truth_of("tokens")
    assert [kind for kind, _ in truth["seen"]] == ["SampleKind.PUT", "SampleKind.DELETE"]
    twin = story_of("tokens", "token", "alive/arm")
    assert (twin.cause, twin.failed) == ("doubled_token", False)
    declared = packets_of("tokens", "DECLARE/D_TOKEN", receiver=truth["router"], key="alive/arm")
    assert set(declared) == set(twin.packets)
    hidden = story_of("tokens", "token", "alive/@debug/x")
    assert (hidden.cause, hidden.culprit) == ("at_chunk", truth["watcher"])


def test_a_slow_subscriber_is_a_congestion_drop() -> None:
    truth = truth_of("slow_subscriber")
    [story] = report_of("slow_subscriber").stories
    assert (story.cause, story.culprit) == ("congestion_drop", truth["router"])
    lost = set(range(truth["sent"])) - set(truth["got"])
    assert len(lost) > 10
    assert f"{len(lost)} of {truth['sent']} did not reach" in story.headline
    packets = {}
    for event in messages_of("slow_subscriber"):
        if isinstance(event.message, Push) and event.sender_zid == truth["talker"]:
            assert isinstance(event.message.body, Put)
            packets[int(event.message.body.payload[:4])] = event.packet
    assert {packets[number] for number in lost} <= set(story.packets)
    assert not {packets[number] for number in truth["got"][1:]} & set(story.packets)
