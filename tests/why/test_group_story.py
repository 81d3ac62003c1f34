"""Stories of multicast groups: the same from a capture and from its tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.capture.headers import ethernet, ipv4, udp
from tests.trace.sidecar import PATHS
from tests.why.scene import Scene, put
from zenlake.lake import direct
from zenlake.why import CaptureStories, Scope, Story, report
from zenlake.why.from_capture import read_capture
from zenlake.why.from_lake import read_snapshot
from zenlake.wire import Close, Frame, Join
from zenlake.wire.batch import encode_messages
from zenlake.wire.message import Message
from zenlake.wire.values.resolution import Resolution
from zenlake.wire.values.whatami import WhatAmI
from zenlake.wire.values.zenoh_id import ZenohId

GROUP = ("224.0.0.224", 7447)
ONE, TWO, THREE = ("a1" * 8, "b2" * 8, "c3" * 8)
SMALL = {"resolution": Resolution(), "batch_size": 2048}
LEASE_S = 2


class Member:
    """One node of the group; it sends every message to all."""

    def __init__(self, scene: Scene, zid: str, host: int, **terms: Any) -> None:
        self.scene, self.zid, self.host, self.terms = scene, zid, host, terms
        self.sn = 100

    def join(self) -> int:
        zid = ZenohId.parse(self.zid)
        terms: dict[str, Any] = {"seconds": True, "patch": 1, **self.terms}
        return self.send(Join(WhatAmI.PEER, zid, LEASE_S, self.sn, 500, **terms))

    def put(self, key: str) -> int:
        self.sn += 1
        return self.send(Frame(self.sn - 1, [put(key, b"1")], True))

    def leave(self) -> int:
        return self.send(Close(0))

    def send(self, message: Message) -> int:
        datagram = udp(encode_messages([message]), (40_000 + self.host, GROUP[1]))
        return self.scene.write(ethernet(ipv4(datagram, 17, f"10.0.0.{self.host}", GROUP[0])))


class Traffic:
    """A capture of a group whose first member, `one`, is always there."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self.scene = Scene(path)
        self.one = Member(self.scene, ONE, 1)

    def pass_time(self, seconds: float, *members: Member) -> None:
        """Members send JOIN twice a second."""
        for _ in range(int(seconds * 2)):
            for member in (self.one, *members):
                member.join()
            self.scene.wait(0.5)

    def reports(self) -> tuple[CaptureStories, CaptureStories]:
        self.scene.close()
        of_capture = report(read_capture(self.path, Scope()), Scope())
        with direct.read([self.path]) as tables:
            [evidence] = read_snapshot(tables.snapshot(), Scope())
        return of_capture, report(evidence, Scope())

    def stories(self) -> list[Story]:
        """The stories of sessions."""
        one, other = self.reports()
        assert [story.as_json({}) for story in one.stories] == [
            story.as_json({}) for story in other.stories
        ]
        return [story for story in one.stories if story.subject == "session"]


@pytest.fixture
def traffic(tmp_path: Path) -> Traffic:
    return Traffic(tmp_path / "group.pcapng")


def test_members_that_come_and_go_are_no_story(traffic: Traffic) -> None:
    two = Member(traffic.scene, TWO, 2)
    traffic.pass_time(3, two)
    two.put("a/b")
    two.leave()
    traffic.pass_time(4)
    assert traffic.stories() == []


def test_a_silent_member_exceeds_its_lease(traffic: Traffic) -> None:
    two = Member(traffic.scene, TWO, 2)
    traffic.pass_time(2, two)
    heard = two.put("a/b")
    traffic.pass_time(5)
    [story] = traffic.stories()
    assert (story.cause, story.failed, story.culprit) == ("lease_exceeded", True, TWO)
    assert heard in story.packets
    assert "peer b2b2 sent nothing for 4,510 ms" in story.headline
    assert "its lease is 2,000 ms" in story.headline


def test_a_silent_member_comes_back(traffic: Traffic) -> None:
    two = Member(traffic.scene, TWO, 2)
    traffic.pass_time(2, two)
    traffic.pass_time(4)
    again = two.join()
    traffic.pass_time(2, two)
    silent, back = traffic.stories()
    assert [silent.cause, back.cause] == ["lease_exceeded", "reconnected"]
    assert (back.at.packet, back.failed, back.nodes) == (again, False, [TWO])
    assert "are connected again after" in back.headline
    assert any("joins again" in step.text for step in silent.steps)


def test_a_member_that_left_comes_back(traffic: Traffic) -> None:
    two = Member(traffic.scene, TWO, 2)
    traffic.pass_time(2, two)
    left = two.leave()
    traffic.pass_time(1)
    two.join()
    traffic.pass_time(1, two)
    [back] = traffic.stories()
    assert back.cause == "reconnected"
    assert f"peer b2b2 sent CLOSE (packet {left})" in back.headline


@pytest.mark.parametrize(
    ("terms", "cause", "words"),
    [
        (SMALL, "refused", "batches of 2,048 bytes"),
        ({"resolution": Resolution.of(16), "batch_size": 8192}, "refused", "16 bits"),
        ({"version": 8}, "refused_version", "version 8 of the protocol"),
    ],
)
def test_a_member_with_other_terms_is_refused(
    traffic: Traffic, terms: dict[str, Any], cause: str, words: str
) -> None:
    two = Member(traffic.scene, TWO, 2)
    odd = Member(traffic.scene, THREE, 3, **terms)
    joined = odd.join()  # joins first: the terms of the majority count
    traffic.pass_time(2, two, odd)
    [story] = traffic.stories()
    assert (story.cause, story.culprit, story.at.packet) == (cause, THREE, joined)
    assert story.failed
    assert words in story.headline
    assert "peer a1a1 and peer b2b2 have" in story.headline


def test_of_two_the_later_one_is_refused(traffic: Traffic) -> None:
    traffic.pass_time(1)
    traffic.pass_time(1, Member(traffic.scene, TWO, 2, **SMALL))
    [story] = traffic.stories()
    assert story.culprit == TWO


@pytest.mark.parametrize("name", ["multicast", "pico_peers"])
def test_groups_of_real_nodes_have_no_failure(name: str) -> None:
    made = report(read_capture(str(PATHS[name]), Scope()), Scope())
    assert made.evidence.memberships
    assert [story for story in made.stories if story.subject == "session" and story.failed] == []
