"""Which subscribers received a publication, and why others did not, cause by cause."""

from __future__ import annotations

import pytest

from tests.why.evidence_by_hand import (
    ASKER,
    ROUTER,
    SERVER,
    A,
    B,
    at,
    declared,
    evidence,
    flows,
    interest,
    lost,
    only,
    published,
    stories,
)
from zenlake.why.records import Flow, Sample, SessionRecord

TIMES = (100, 200, 300, 400)
SUBSCRIBER = declared("subscriber", "k/**", 5)


def passed_on(*numbers: int) -> Flow:
    """The publications that the router sent to the server, of four."""
    flow = published("k/a", 101, session=B)
    flow.samples = [Sample(at(TIMES[number] + 1), f"digest {number}") for number in numbers]
    flow.count = len(numbers)
    return flow


def test_delivered_publication_has_no_failure() -> None:
    made = evidence(
        flows=flows(published("k/a", *TIMES), passed_on(0, 1, 2, 3)), declarations=[SUBSCRIBER]
    )
    story = only(made)
    assert (story.cause, story.failed) == ("delivered", False)
    assert "delivered to client bbbb" in story.headline


def test_publications_that_overtake_others_are_delivered() -> None:
    arrived = passed_on(0, 2, 3, 1)
    arrived.samples = [
        Sample(at(401 + place), sample.digest) for place, sample in enumerate(arrived.samples)
    ]
    made = evidence(
        flows=flows(published("k/a", *TIMES, congestion="block"), arrived),
        declarations=[SUBSCRIBER],
    )
    assert only(made).cause == "delivered"


def test_a_deletion_is_not_taken_for_a_publication() -> None:
    sent = published("k/a", *TIMES, congestion="block")
    sent.samples[3] = sent.samples[3]._replace(digest="")
    arrived = passed_on(0, 1, 2)
    made = evidence(flows=flows(sent, arrived), declarations=[SUBSCRIBER])
    assert f"1 of 4 did not reach client bbbb (packet {TIMES[3]})" in only(made).headline


@pytest.mark.parametrize(
    ("kind", "congestion", "cause"),
    [
        (None, "drop", "congestion_drop"),
        (None, "block", "not_passed_on"),
        ("sn_gap", "drop", "lost_on_link"),
        ("fragment", "drop", "incomplete_fragments"),
        ("tcp_gap", "drop", "capture_incomplete"),
    ],
)
def test_missing_publications_have_the_expected_cause(
    kind: str | None, congestion: str, cause: str
) -> None:
    made = evidence(
        flows=flows(published("k/a", *TIMES, congestion=congestion), passed_on(0, 2, 3)),
        declarations=[SUBSCRIBER],
        losses=[] if kind is None else [lost(B, 301, kind)],
    )
    story = next(one for one in stories(made) if one.subject == "publication")
    assert story.cause == cause
    assert "1 of 4 did not reach client bbbb (packet 200)" in story.headline
    assert 200 in story.packets
    assert (301 in story.packets) == (kind is not None)


def test_a_loss_at_another_time_explains_nothing() -> None:
    made = evidence(
        flows=flows(published("k/a", *TIMES), passed_on(0, 2, 3)),
        declarations=[SUBSCRIBER],
        losses=[lost(B, 401, "sn_gap")],
    )
    publication, link = sorted(stories(made), key=lambda story: story.subject, reverse=True)
    assert (publication.cause, link.cause) == ("congestion_drop", "lost_on_link")


def test_payloads_in_shared_memory_are_found_by_their_order() -> None:
    first = published("k/a", *TIMES)
    first.samples = [Sample(sample.at, None) for sample in first.samples]
    made = evidence(flows=flows(first, passed_on(0, 1, 2, 3)), declarations=[SUBSCRIBER])
    assert only(made).cause == "delivered"


def alike(flow: Flow) -> Flow:
    """All publications have the same payload."""
    flow.samples = [Sample(sample.at, "digest") for sample in flow.samples]
    return flow


def test_equal_values_reach_a_subscriber_that_came_later() -> None:
    life = declared("subscriber", "k/**", 220)
    equal = (alike(published("k/a", *TIMES)), alike(passed_on(2, 3)))
    story = only(evidence(flows=flows(*equal), declarations=[life]))
    assert story.cause == "not_yet_declared"  # of the first two publications


def test_the_one_of_equal_values_that_did_not_arrive_is_named() -> None:
    equal = (alike(published("k/a", *TIMES)), alike(passed_on(0, 2, 3)))
    story = only(evidence(flows=flows(*equal), declarations=[SUBSCRIBER]))
    assert "1 of 4 did not reach client bbbb (packet 200)" in story.headline


def test_peers_that_know_each_other_need_no_relay() -> None:
    """Two of three peers subscribe; the third publishes to both."""
    direct = "asker-server#1"
    to_server = published("k/a", *TIMES)
    to_server.session, to_server.receiver = direct, SERVER
    made = evidence(flows=flows(published("k/a", *TIMES), to_server))
    made.roles = dict.fromkeys((ROUTER, ASKER, SERVER), "peer")
    made.sessions[direct] = SessionRecord(direct, ASKER, SERVER, 0, None, "open", None, "tcp")
    made.declarations = [
        declared("subscriber", "k/*", 5, session=session, sender=sender, receiver=receiver)
        for session, one, other in (
            (A, ASKER, ROUTER),
            (B, SERVER, ROUTER),
            (direct, ASKER, SERVER),
        )
        for sender, receiver in ((one, other), (other, one))
        if sender != ASKER
    ]
    found = [story for story in stories(made) if story.subject == "publication"]
    assert {story.cause for story in found} == {"delivered"}


def test_headline_counts_other_nodes_that_lack_some() -> None:
    third = "third-router#1"
    other = passed_on(0, 1)
    other.session, other.receiver = third, "eeee05"
    made = evidence(
        flows=flows(published("k/a", *TIMES), passed_on(0, 2, 3), other),
        declarations=[SUBSCRIBER, declared("subscriber", "k/*", 6, sender="eeee05", session=third)],
    )
    story = only(made)
    assert story.cause == "congestion_drop"
    assert "1 other node lacks some too" in story.headline
    assert set(story.reached) == {SERVER, "eeee05"}


def test_old_sequence_numbers_blame_the_sender() -> None:
    story = only(evidence(flows=flows(published("k/a", *TIMES, ignored=2))))
    assert (story.cause, story.culprit) == ("stale_sn", ASKER)


def test_the_publisher_subscribes_itself() -> None:
    own = declared("subscriber", "k/a", 5, sender=ASKER, session=A)
    story = only(evidence(flows=flows(published("k/a", 100)), declarations=[own]))
    assert (story.cause, story.failed) == ("delivered", False)
    assert "subscribes itself" in story.headline


@pytest.mark.parametrize(
    ("key", "ms", "ended", "cause"),
    [
        ("k/a", 150, None, "not_yet_declared"),
        ("k/a", 5, 50, "gone"),
        ("k/@v/a", 5, None, "key_mismatch"),
        ("other", 5, None, "no_subscriber"),
        ("k/a/*", 5, None, "key_mismatch"),
    ],
)
def test_publication_without_a_receiver_has_its_cause(
    key: str, ms: float, ended: float | None, cause: str
) -> None:
    life = declared("subscriber", key, ms, ended)
    made = evidence(flows=flows(published("k/a", 100)), declarations=[life])
    story = next(one for one in stories(made) if one.subject == "publication")
    assert (story.cause, story.failed) == (cause, True)


def test_loss_behind_the_second_router_is_found_there() -> None:
    """Hop by hop: the first router passes all on, the second one does not."""
    other, third = "dddd04", "router-router#1"
    made = evidence(declarations=[SUBSCRIBER])
    made.roles[other] = "router"
    first = published("k/a", *TIMES)
    first.receiver = other
    between = passed_on(0, 1, 2, 3)
    between.session, between.sender, between.receiver = third, other, ROUTER
    forwarded = declared("subscriber", "k/**", 6, sender=ROUTER, receiver=other, session=third)
    made.flows = flows(first, between, passed_on(0, 1))
    made.declarations.append(forwarded)
    story = only(made)
    assert (story.cause, story.culprit) == ("congestion_drop", ROUTER)
    assert "did not reach client bbbb" in story.headline


def test_publisher_without_a_subscriber_has_a_story() -> None:
    story = only(evidence(interests=[interest(10, "KSR", "k/a")]))
    assert (story.subject, story.cause) == ("publisher", "no_subscriber")
    announced = declared("subscriber", "k/**", 11, sender=ROUTER, receiver=ASKER, session=A)
    assert stories(evidence(interests=[interest(10, "KSR", "k/a")], declarations=[announced])) == []


def test_querier_without_a_matching_queryable_has_a_story() -> None:
    made = evidence(
        interests=[interest(10, "KQR", "k/@v/a")], declarations=[declared("queryable", "k/**")]
    )
    story = only(made, "k/@v/a")
    assert (story.subject, story.cause, story.culprit) == ("querier", "at_chunk", SERVER)


def test_a_liveliness_query_without_an_end() -> None:
    made = evidence(interests=[interest(10, "KTR", "k/**", mode="current", final_ns=None)])
    story = only(made)
    assert (story.subject, story.cause, story.culprit) == ("liveliness", "final_missing", ROUTER)


def test_a_subscriber_that_asks_for_something_else() -> None:
    """Others got the publication, so the story of the publication has no failure."""
    made = evidence(
        flows=flows(published("k/@v/a", 100), published("k/@v/a", 101, session=B)),
        declarations=[
            declared("subscriber", "k/@v/a"),
            declared("subscriber", "k/**", 6, sender="eeee05", session="third-router#1"),
        ],
    )
    found = {story.subject: story for story in stories(made, "k/**")}
    assert found["subscriber"].cause == "at_chunk"
    assert found["subscriber"].culprit == "eeee05"
