"""The collector keeps the records that are asked for, within limits that it reports."""

from __future__ import annotations

import pytest

from tests.why.bundled_stories import path_of
from tests.why.evidence_by_hand import asked, at, declared, published, reply
from zenlake.errors import LocalError
from zenlake.limits import (
    WHY_KEYS_COMPARED_MAX,
    WHY_RECORDS_MAX,
    WHY_REPLIES_PER_QUERY_MAX,
    WHY_SAMPLES_MAX,
    WHY_SAMPLES_PER_KEY_MAX,
)
from zenlake.why import Evidence, Scope, parse_scope
from zenlake.why.collector import Collector
from zenlake.why.from_capture import read_capture
from zenlake.why.network import Network
from zenlake.why.records import Sample


def test_limits_leave_room_for_real_captures() -> None:
    assert WHY_RECORDS_MAX >= 10_000
    assert WHY_SAMPLES_MAX >= 10 * WHY_SAMPLES_PER_KEY_MAX


def test_answered_queries_make_room_for_those_that_failed() -> None:
    evidence = Evidence("x")
    collector = Collector(evidence, Scope(), records_max=4)
    good = [asked(ms, replies=[reply(ms + 1)], final=at(ms + 2)) for ms in (10, 20, 30)]
    bad = [asked(ms) for ms in (40, 50, 60, 70, 80)]
    for query in good + bad:
        collector.query(query)
    assert evidence.queries == bad[:4]
    assert evidence.left_out == {"answered queries": 3, "queries": 1}


def test_named_query_is_kept() -> None:
    evidence = Evidence("x")
    collector = Collector(evidence, Scope(query="7"), records_max=2)
    named = asked(5, number=7, replies=[reply(6)], final=at(7), question="named")
    other = asked(10, replies=[reply(11)], final=at(12), question="other")
    hop = asked(6, number=1, replies=[reply(6)], final=at(7), question="named")
    for query in (named, other, hop):
        collector.query(query)
    assert evidence.queries == [named, hop]


def test_replies_of_one_query_are_bounded() -> None:
    query, collector = asked(10), Collector(Evidence("x"), Scope())
    for number in range(WHY_REPLIES_PER_QUERY_MAX + 5):
        collector.reply(query, reply(number))
    assert (len(query.replies), query.more_replies) == (WHY_REPLIES_PER_QUERY_MAX, 5)


def test_samples_are_bounded_by_key_and_in_all() -> None:
    collector = Collector(Evidence("x"), Scope(), samples_max=WHY_SAMPLES_PER_KEY_MAX + 3)
    for key, kept in (("a", WHY_SAMPLES_PER_KEY_MAX), ("b", 3)):
        flow = collector.flow(published(key, 1, samples=[]))
        assert flow is not None
        for number in range(WHY_SAMPLES_PER_KEY_MAX + 10):
            collector.sample(flow, Sample(at(number), None))
        assert len(flow.samples) == kept


def test_other_kinds_are_bounded() -> None:
    evidence = Evidence("x")
    collector = Collector(evidence, Scope(), records_max=1)
    for number in range(3):
        collector.declaration(declared("token", f"t/{number}"))
        collector.flow(published(f"k/{number}", 1))
    assert (len(evidence.declarations), len(evidence.flows)) == (1, 1)
    assert evidence.left_out == {"declarations": 2, "published keys": 2}


def test_the_search_for_near_keys_is_bounded() -> None:
    network = Network(Evidence("x"))
    keys = [f"a/{number}" for number in range(WHY_KEYS_COMPARED_MAX // 4)]
    assert network.nearest("a/x", keys[:10]) is not None
    for _ in range(4):
        network.nearest("zzz", keys)
    assert network.nearest("a/x", keys[:10]) is None
    assert sum(network.evidence.left_out.values()) == 1


def test_only_records_in_the_scope_are_kept() -> None:
    every = read_capture(path_of("at_chunks"), parse_scope(None, None, None))
    some = read_capture(path_of("at_chunks"), parse_scope(None, "door/*", None))
    assert len(every.queries) == 1
    assert some.queries == []
    assert some.declarations == every.declarations
    followed = {key for (_, _, key), flow in some.flows.items() if flow.samples}
    assert followed == {"door/closed"}
    assert not read_capture(path_of("at_chunks"), parse_scope("1", None, None)).flows


def test_scope_with_wildcards_includes_keys_with_at_chunks() -> None:
    asks = parse_scope(None, "robot/**", None)
    assert asks.has_key("robot/7/pose")
    assert asks.has_key("robot/7/@meta")
    assert asks.has_key(None)
    assert not asks.has_key("lamp/@meta")
    assert not parse_scope(None, "robot/meta", None).has_key("robot/@meta")


@pytest.mark.parametrize("query", ["", "x", "1/", "a/b", "1.5", "-1", "²", "9" * 21])
def test_invalid_name_of_a_query_is_an_error(query: str) -> None:
    with pytest.raises(LocalError, match="--query"):
        parse_scope(query, None, None)


@pytest.mark.parametrize("query", ["1", "0", "tcp:1-b:2#1/7", "352321538"])
def test_name_of_a_query_is_accepted(query: str) -> None:
    assert parse_scope(query, None, None).query == query


def test_invalid_key_is_an_error() -> None:
    with pytest.raises(LocalError, match=r"--key: .*empty"):
        parse_scope(None, "a//b", None)
    assert parse_scope(None, "a/**/*", None).key == "a/*/**"
