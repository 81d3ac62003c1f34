"""The checker finds each fault in thousands of captures, nothing else, and uses bounded memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.chance import IS_FULL, first_seed
from tests.rules import damage as ways
from tests.rules.captures import clean, findings
from tests.rules.damage import DAMAGE, damaged
from tests.rules.faults.batches import push
from tests.rules.gate import run
from tests.rules.legal_session import LegalSession
from tests.rules.packet_recorder import Recorder
from zenlake import limits, rules, trace
from zenlake.limits import RULES_ENDED_REQUESTS_MAX, RULES_FINDINGS_PER_SIDE_MAX, RULES_OPEN_MAX
from zenlake.rules import fact_updates
from zenlake.rules.facts import SideFacts
from zenlake.wire import Push, Put, WireExpr


def opened_session(**options: Any) -> LegalSession:
    session = LegalSession(Recorder(1), protocol="tcp", **options)
    session.open()
    return session


def test_faults_are_found_by_their_rule_at_their_packet(tmp_path: Path) -> None:
    captures = 1_000 if IS_FULL else 150
    start = first_seed()
    score = run(captures, start, tmp_path)
    assert score.right >= 0.99 * captures, (start, score.missed)
    assert score.other_errors == 0, (start, score.missed)


def test_legal_captures_have_no_finding(tmp_path: Path) -> None:
    start = first_seed()
    for seed in range(start, start + (500 if IS_FULL else 40)):
        assert not findings(clean(tmp_path / "clean.pcapng", seed)), seed


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda one: one.__name__)
def test_damage_of_a_legal_capture_causes_no_finding(damage: ways.Way, tmp_path: Path) -> None:
    start = first_seed()
    for seed in range(start, start + (300 if IS_FULL else 20)):
        path = clean(tmp_path / "clean.pcapng", seed, 40)
        found = findings(damaged(path, tmp_path / "damaged.pcapng", damage, seed))
        assert not found, (seed, found)


FOUND_ONCE = [
    (113_491, ways.few_are_missing),  # a compressed batch where OPEN_ACK is lost
    (538_274_172, ways.few_are_missing),  # a first fragment without a mark
    (49_357_250, ways.few_are_missing),  # the same, where a number may be left out
    (800_972_426, ways.neighbours_change_places),
    (800_969_041, ways.many_are_missing),  # SYN and INIT_ACK
    (800_970_266, ways.it_begins_late),  # few bytes of the second direction
    (800_972_147, ways.it_begins_late),
]


@pytest.mark.parametrize(("seed", "damage"), FOUND_ONCE)
def test_false_findings_of_earlier_versions_do_not_return(
    seed: int, damage: ways.Way, tmp_path: Path
) -> None:
    path = clean(tmp_path / "clean.pcapng", seed, 40)
    assert not findings(damaged(path, tmp_path / "damaged.pcapng", damage, seed))


def test_violations_beyond_the_limit_are_counted_and_reported(tmp_path: Path) -> None:
    session = opened_session(lowlatency=False, compression=False)
    times = RULES_FINDINGS_PER_SIDE_MAX + 7
    for _ in range(times):
        session.send(0, push("a//b"))
    for _ in range(5):
        session.send(0, push("a/*"))
    session.close(0)
    session.recorder.write(tmp_path / "many.pcapng")
    checker = rules.Checker()
    for item, events in trace.open(str(tmp_path / "many.pcapng")).steps():
        checker.feed(item, events)
    found = checker.pop_findings()
    assert checker.counts == {"key-invalid": times, "put-to-many": 1}
    messages = [one.message for one in found if one.rule.id == "key-invalid"]
    assert len(messages) == RULES_FINDINGS_PER_SIDE_MAX + 1
    assert messages[-1] == "7 more of these"
    assert sum(one.times for one in found if one.rule.id == "key-invalid") == times
    assert [one.rule.id for one in found].count("put-to-many") == 1
    assert not checker.pop_findings()


def test_incomplete_message_needs_no_last_fragment(tmp_path: Path) -> None:
    session = opened_session(lowlatency=False, compression=False)
    part = bytes(session.batch_size - 24)
    session.unit(0, bytes(session.fragment(0, part, more=True, first=session.patch > 0)))
    session.raw(0, b"")
    session.pass_time(9)
    session.close(0)
    session.recorder.write(tmp_path / "given_up.pcapng")
    assert [one.rule.id for one in findings(tmp_path / "given_up.pcapng")] == ["batch-empty"]


@pytest.mark.parametrize("roles", [("peer", "router"), ("peer", "peer")])
def test_linkstate_peers_may_name_nodes_of_their_link_states(
    roles: tuple[str, str], tmp_path: Path
) -> None:
    """A network of peers, as up to 1.8."""
    session = opened_session(lowlatency=False, compression=False, roles=roles)
    session.link_state(0)
    for node_id in (1, 2):
        session.send(0, Push(WireExpr(0, "a/b"), Put(b"v"), node_id=node_id))
    session.close(0)
    session.recorder.write(tmp_path / "peers.pcapng")
    (found,) = findings(tmp_path / "peers.pcapng")
    assert (found.rule.id, found.message[:8]) == ("node-id-not-router", "NodeId 2")


def test_only_the_selected_rules_are_checked(tmp_path: Path) -> None:
    session = opened_session(lowlatency=False)
    session.send(0, push("a//b"), push("a/*"))
    session.recorder.write(tmp_path / "two.pcapng")
    opened = trace.open(str(tmp_path / "two.pcapng"))
    assert [one.rule.id for one in rules.check(opened, ["put-to-many"])] == ["put-to-many"]


def test_facts_beyond_the_limit_cause_no_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert limits.RULES_OPEN_MAX == RULES_OPEN_MAX > 1_000
    monkeypatch.setattr(fact_updates, "RULES_OPEN_MAX", 4)
    session = opened_session()
    for _ in range(6):
        session.send(0, session.request_message(0, "a/b"))
    for number in range(1, 7):
        session.final(1, number)
    session.close()
    session.recorder.write(tmp_path / "many.pcapng")
    assert not findings(tmp_path / "many.pcapng")


def test_ended_requests_do_not_count_against_the_limit() -> None:
    side = SideFacts(None)
    for number in range(RULES_ENDED_REQUESTS_MAX):
        side.end_request(number, 7)
    assert not side.forgets
    side.end_request(RULES_ENDED_REQUESTS_MAX, 7)
    assert list(side.history.ended_requests) == list(range(1, RULES_ENDED_REQUESTS_MAX + 1))
    assert side.forgets
