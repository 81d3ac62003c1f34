"""Exchanges: requests with their responses; each rule is tested with a few hand-made events."""

from __future__ import annotations

import pytest

from tests.trace.built_sessions import (
    ACCEPTOR,
    CAPTURE_NAMES,
    KEY,
    OPENER,
    SECOND,
    BuiltGroup,
    BuiltSession,
    deletion,
    error,
    events_and_counts,
    final,
    reply,
    request,
)
from zenlake.limits import LATE_RESPONSE_SECONDS_MAX
from zenlake.trace.timelines.exchange import Exchange
from zenlake.trace.timelines.exchanges import Exchanges, exchanges


def the_one(built: BuiltSession) -> Exchange:
    [exchange] = exchanges(built.events)
    return exchange


def test_exchange_has_its_replies_and_the_final_response() -> None:
    built = BuiltSession()
    asked = built.send(OPENER, request(1, parameters="a=1"), KEY)
    first = built.send(ACCEPTOR, reply(1), KEY)
    second = built.send(ACCEPTOR, deletion(1), KEY)
    last = built.send(ACCEPTOR, final(1))
    exchange = the_one(built)
    assert exchange.request is asked
    assert exchange.responses == [first, second]
    assert exchange.final is last
    assert (exchange.replies, exchange.errors, exchange.late) == (2, 0, 0)
    assert exchange.ended_by == "final"
    assert (exchange.request_id, exchange.key, exchange.parameters) == (1, KEY, "a=1")
    assert (exchange.requester_zid, exchange.responder_zid) == ("aa", "bb")
    assert exchange.timeout_ms == 10_000
    assert (exchange.first_reply_ms, exchange.final_ms) == (1.0, 3.0)
    assert exchange.latency_ms(second) == 2.0


def test_errors_are_counted_separately_and_are_not_a_first_reply() -> None:
    built = BuiltSession()
    built.send(ACCEPTOR, request(1))
    built.send(OPENER, error(1))
    built.send(OPENER, final(1))
    exchange = the_one(built)
    assert (exchange.replies, exchange.errors) == (0, 1)
    assert exchange.first_reply_ms is None
    assert (exchange.requester_zid, exchange.responder_zid) == ("bb", "aa")


def test_each_side_has_its_own_request_ids() -> None:
    built = BuiltSession()
    built.send(OPENER, request(1), "from/opener")
    built.send(ACCEPTOR, request(1), "from/acceptor")
    built.send(OPENER, reply(1))
    built.send(ACCEPTOR, final(1))
    built.send(OPENER, final(1))
    found = {exchange.key: exchange.replies for exchange in exchanges(built.events)}
    assert found == {"from/opener": 0, "from/acceptor": 1}


def test_each_session_has_its_own_request_ids() -> None:
    one = BuiltSession(name="a:1-b:2#1")
    two = BuiltSession(one.events, name="a:1-b:2#2")
    one.send(OPENER, request(1), "one")
    two.send(OPENER, request(1), "two")
    two.send(ACCEPTOR, reply(1))
    found = {exchange.key: exchange.replies for exchange in exchanges(one.events)}
    assert found == {"one": 0, "two": 1}


def test_answers_on_another_link_belong_to_the_exchange() -> None:
    built = BuiltSession()
    built.send(OPENER, request(1))
    built.second_link()
    built.send(ACCEPTOR, reply(1))
    built.send(ACCEPTOR, final(1))
    exchange = the_one(built)
    assert (exchange.replies, exchange.ended_by) == (1, "final")


def test_replies_after_the_final_response_are_late() -> None:
    built = BuiltSession()
    built.send(OPENER, request(1))
    built.send(ACCEPTOR, final(1))
    late = built.send(ACCEPTOR, reply(1))
    exchange = the_one(built)
    assert exchange.after_final == [late]
    assert exchange.responses == []
    assert (exchange.replies, exchange.late, exchange.ended_by) == (1, 1, "final")
    assert exchange.first_reply_ms == 2.0


def test_only_the_first_final_response_counts() -> None:
    built = BuiltSession()
    built.send(OPENER, request(1))
    first = built.send(ACCEPTOR, final(1))
    built.send(ACCEPTOR, final(1))
    assert the_one(built).final is first


def test_exchange_ends_a_while_after_its_final_response() -> None:
    built = BuiltSession()
    walker = Exchanges()
    built.send(OPENER, request(1))
    built.send(ACCEPTOR, final(1))
    built.later_ns = (LATE_RESPONSE_SECONDS_MAX - 1) * SECOND
    built.send(OPENER, request(2))
    assert [walker.feed(event) for event in built.events] == [[], [], []]
    built.later_ns += 2 * SECOND
    [over] = walker.feed(built.send(OPENER, request(3)))
    assert over.request_id == 1
    assert [exchange.request_id for exchange in walker.finish()] == [2, 3]


def test_reused_id_ends_the_exchange_before() -> None:
    built = BuiltSession()
    built.send(OPENER, request(1), "old")
    built.send(ACCEPTOR, reply(1))
    built.send(OPENER, request(1), "new")
    built.send(ACCEPTOR, reply(1))
    built.send(ACCEPTOR, final(1))
    old, new = exchanges(built.events)
    assert (old.key, old.replies, old.ended_by) == ("old", 1, None)
    assert (new.key, new.replies, new.ended_by) == ("new", 1, "final")


def test_answers_without_a_request_are_an_exchange() -> None:
    built = BuiltSession()
    built.send(ACCEPTOR, reply(7))
    built.send(ACCEPTOR, final(7))
    exchange = the_one(built)
    assert exchange.request is None
    assert (exchange.request_id, exchange.replies, exchange.ended_by) == (7, 1, "final")
    assert (exchange.requester_zid, exchange.responder_zid) == ("aa", "bb")
    assert (exchange.key, exchange.parameters, exchange.timeout_ms) == (None, None, None)
    assert (exchange.first_reply_ms, exchange.final_ms) == (None, None)


@pytest.mark.parametrize("change", ["closed", "lost", "refused"])
def test_session_ends_its_open_exchanges(change: str) -> None:
    built = BuiltSession()
    walker = Exchanges()
    built.send(OPENER, request(1))
    built.send(OPENER, request(2))
    built.send(ACCEPTOR, final(1))
    built.change("joined")
    assert [walker.feed(event) for event in built.events] == [[]] * 4
    over = walker.feed(built.change(change))
    assert [(each.request_id, each.ended_by) for each in over] == [(1, "final"), (2, "session")]
    assert walker.finish() == []


def test_request_after_the_end_of_its_session_ends_with_it() -> None:
    built = BuiltSession()
    built.change("closed")
    built.send(OPENER, request(1))
    assert the_one(built).ended_by == "session"


def test_end_of_the_capture_ends_open_exchanges() -> None:
    built = BuiltSession()
    built.send(OPENER, request(1))
    assert the_one(built).ended_by == "end"


def test_ignored_messages_do_not_count() -> None:
    built = BuiltSession()
    built.send(OPENER, request(1))
    built.send(ACCEPTOR, reply(1)).ignored = "old sequence number"
    assert the_one(built).replies == 0


def test_messages_without_a_session_belong_to_none() -> None:
    built = BuiltSession()
    built.send(OPENER, request(1)).session = None
    assert list(exchanges(built.events)) == []


def test_exchange_of_a_fed_message_is_found() -> None:
    built = BuiltSession()
    walker = Exchanges()
    asked = built.send(OPENER, request(1))
    answer = built.send(ACCEPTOR, reply(1))
    assert walker.exchange_of(answer) is None
    walker.feed(asked)
    walker.feed(answer)
    exchange = walker.exchange_of(answer)
    assert exchange is not None
    assert exchange is walker.exchange_of(asked)
    assert exchange.replies == 1


def test_group_answers_go_to_the_latest_request() -> None:
    built = BuiltGroup()
    built.send_as("m1", request(1))
    built.send_as("m2", reply(1))
    built.send_as("m2", final(1))
    exchange = the_one(built)
    assert (exchange.replies, exchange.ended_by) == (1, "final")
    assert (exchange.requester_zid, exchange.responder_zid) == ("zid of m1", None)


def test_responses_beyond_the_limit_are_counted() -> None:
    built = BuiltSession()
    built.send(OPENER, request(1))
    for _ in range(10):
        built.send(ACCEPTOR, reply(1, bytes(1 << 20)))
    exchange = the_one(built)
    assert exchange.replies == 10
    assert len(exchange.responses) == 4


def test_open_exchanges_of_a_session_are_limited() -> None:
    built = BuiltSession()
    walker = Exchanges(per_session_max=3)
    for number in range(3):
        assert walker.feed(built.send(OPENER, request(number))) == []
    [oldest] = walker.feed(built.send(OPENER, request(3)))
    assert (oldest.request_id, oldest.ended_by) == (0, None)
    assert [exchange.request_id for exchange in walker.finish()] == [1, 2, 3]


def test_kept_bytes_are_limited_and_finished_exchanges_are_removed_first() -> None:
    built = BuiltSession()
    walker = Exchanges(bytes_max=80_000)
    over: list[Exchange] = []
    for number in range(10):
        over += walker.feed(built.send(OPENER, request(number)))
        over += walker.feed(built.send(ACCEPTOR, reply(number, bytes(8_000))))
        if number in (1, 3):
            over += walker.feed(built.send(ACCEPTOR, final(number)))
    assert [(each.request_id, each.ended_by) for each in over] == [
        (1, "final"),
        (3, "final"),
        (0, None),
    ]


def test_one_exchange_above_the_limit_for_all_is_kept() -> None:
    built = BuiltSession()
    walker = Exchanges(bytes_max=1)
    assert walker.feed(built.send(OPENER, request(1))) == []
    assert walker.feed(built.send(ACCEPTOR, reply(1))) == []
    [exchange] = walker.feed(built.send(OPENER, request(2)))
    assert (exchange.request_id, exchange.replies) == (1, 1)


@pytest.mark.parametrize("name", CAPTURE_NAMES)
def test_every_real_message_belongs_to_one_exchange(name: str) -> None:
    events, counts = events_and_counts(name)
    found = list(exchanges(events))
    responses = sum(n for kind, n in counts.items() if kind.startswith("RESPONSE/"))
    assert sum(exchange.request is not None for exchange in found) == counts["REQUEST"]
    assert sum(exchange.replies + exchange.errors for exchange in found) == responses
    assert sum(exchange.final is not None for exchange in found) == counts["RESPONSE_FINAL"]
