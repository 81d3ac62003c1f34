"""Numbers and versions of nodes that leave a network of routers and come back to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.captures import findings
from tests.rules.faults.queries import states
from tests.rules.legal_session import LegalSession
from tests.rules.packet_recorder import Recorder
from zenlake.rules import fact_updates
from zenlake.rules.facts import SideFacts
from zenlake.wire import LinkState, Oam, ZenohId

ONE, OTHER = ZenohId(b"\x01\x01"), ZenohId(b"\x02\x02")


class LinkStateCapture:
    """Link states from one router to another; number 1 is a node linked to both."""

    def __init__(self) -> None:
        self.recorder = Recorder(1)
        routers = ("router", "router")
        self.session = LegalSession(
            self.recorder, roles=routers, protocol="tcp", lowlatency=False, compression=False
        )
        self.session.open()
        self.version = 100

    def add(self, links: tuple[int, ...], *others: LinkState) -> None:
        self.version += 1
        own = LinkState(0, self.version, links, zid=self.session.ends[0].zid)
        states(self.session, 0, own, *others)

    def rules_broken(self, folder: Path) -> list[str]:
        self.recorder.write(folder / "link_states.pcapng")
        return [one.rule.id for one in findings(folder / "link_states.pcapng")]


def test_the_number_of_a_node_that_is_gone_is_free(tmp_path: Path) -> None:
    capture = LinkStateCapture()
    capture.add((1, 2), LinkState(2, 5, (0,), zid=ONE))
    capture.add((1,))
    capture.add((1, 2), LinkState(2, 1, (0,), zid=OTHER))
    assert capture.rules_broken(tmp_path) == []


def test_the_number_of_a_node_that_is_linked_is_not_free(tmp_path: Path) -> None:
    capture = LinkStateCapture()
    capture.add((1, 2), LinkState(2, 5, (0, 3), zid=ONE), LinkState(3, 5, (2,), zid=OTHER))
    capture.add((1, 2), LinkState(3, 7, (2,), zid=ZenohId(b"\x03\x03")))
    assert capture.rules_broken(tmp_path) == ["link-state-renamed"]


def test_two_nodes_that_were_gone_may_change_numbers(tmp_path: Path) -> None:
    capture = LinkStateCapture()
    capture.add((1, 2, 3), LinkState(2, 5, (0,), zid=ONE), LinkState(3, 5, (0,), zid=OTHER))
    capture.add((1,))
    capture.add((1, 2), LinkState(2, 7, (0,), zid=OTHER))
    capture.add((1, 2, 3), LinkState(3, 7, (0,), zid=ONE))
    assert capture.rules_broken(tmp_path) == []


def test_a_node_that_was_forgotten_begins_with_version_zero(tmp_path: Path) -> None:
    capture = LinkStateCapture()
    capture.add((1, 2), LinkState(2, 5, (0,), zid=ONE))
    capture.add((1,))
    capture.add((1, 2), LinkState(2, 0, (), zid=ONE))
    capture.add((1, 2), LinkState(2, 4, (0,), zid=ONE))
    assert capture.rules_broken(tmp_path) == []


def test_lower_version_of_a_linked_node_is_a_violation(tmp_path: Path) -> None:
    capture = LinkStateCapture()
    capture.add((1, 2), LinkState(2, 5, (0,), zid=ONE))
    capture.add((1, 2), LinkState(2, 4, (0,), zid=ONE))
    assert capture.rules_broken(tmp_path) == ["link-state-old"]


def test_memory_of_links_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sides: list[SideFacts] = []
    monkeypatch.setattr(fact_updates, "RULES_OPEN_MAX", 20)
    update_facts = fact_updates._link_states

    def spy(message: Oam, side: SideFacts) -> None:
        update_facts(message, side)
        sides.append(side)

    monkeypatch.setattr(fact_updates, "_link_states", spy)
    capture = LinkStateCapture()
    for number in range(100):
        capture.add((1, 2), LinkState(2, number, (0, 1), zid=ZenohId(bytes((7, number + 1)))))
        capture.add((1, *range(2, 12)))
    capture.rules_broken(tmp_path)
    for side in sides:
        held = sum(map(len, side.history.node_links.values()))
        assert side.links_held == held <= 20
        assert len(side.history.psid_of) <= len(side.history.psids)
