"""Exchanges: requests with their responses, each rule by a few events made by hand."""

from __future__ import annotations

import pytest

from tests.trace.built_events import (
    ACCEPTOR,
    CAPTURE_NAMES,
    KEY,
    OPENER,
    SECOND,
    GroupTalk,
    Talk,
    deletion,
    error,
    final,
    reply,
    request,
    taken,
)
from zenlake.limits import LATE_RESPONSE_SECONDS_MAX
from zenlake.trace.timelines.exchange import Exchange
from zenlake.trace.timelines.exchanges import Exchanges, exchanges


def the_one(talk: Talk) -> Exchange:
    [exchange] = exchanges(talk.events)
    return exchange


def test_request_with_its_replies_and_the_final_one() -> None:
    talk = Talk()
    asked = talk.say(OPENER, request(1, parameters="a=1"), KEY)
    first = talk.say(ACCEPTOR, reply(1), KEY)
    second = talk.say(ACCEPTOR, deletion(1), KEY)
    last = talk.say(ACCEPTOR, final(1))
    exchange = the_one(talk)
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


def test_errors_are_counted_apart_and_are_no_first_reply() -> None:
    talk = Talk()
    talk.say(ACCEPTOR, request(1))
    talk.say(OPENER, error(1))
    talk.say(OPENER, final(1))
    exchange = the_one(talk)
    assert (exchange.replies, exchange.errors) == (0, 1)
    assert exchange.first_reply_ms is None
    assert (exchange.requester_zid, exchange.responder_zid) == ("bb", "aa")


def test_both_sides_number_their_own_requests() -> None:
    talk = Talk()
    talk.say(OPENER, request(1), "from/opener")
    talk.say(ACCEPTOR, request(1), "from/acceptor")
    talk.say(OPENER, reply(1))
    talk.say(ACCEPTOR, final(1))
    talk.say(OPENER, final(1))
    found = {exchange.key: exchange.replies for exchange in exchanges(talk.events)}
    assert found == {"from/opener": 0, "from/acceptor": 1}


def test_sessions_number_their_own_requests() -> None:
    one = Talk(name="a:1-b:2#1")
    two = Talk(one.events, name="a:1-b:2#2")
    one.say(OPENER, request(1), "one")
    two.say(OPENER, request(1), "two")
    two.say(ACCEPTOR, reply(1))
    found = {exchange.key: exchange.replies for exchange in exchanges(one.events)}
    assert found == {"one": 0, "two": 1}


def test_answers_may_take_another_link_of_the_session() -> None:
    talk = Talk()
    talk.say(OPENER, request(1))
    talk.second_link()
    talk.say(ACCEPTOR, reply(1))
    talk.say(ACCEPTOR, final(1))
    exchange = the_one(talk)
    assert (exchange.replies, exchange.ended_by) == (1, "final")


def test_replies_after_the_final_one_are_kept_apart() -> None:
    talk = Talk()
    talk.say(OPENER, request(1))
    talk.say(ACCEPTOR, final(1))
    late = talk.say(ACCEPTOR, reply(1))
    exchange = the_one(talk)
    assert exchange.after_final == [late]
    assert exchange.responses == []
    assert (exchange.replies, exchange.late, exchange.ended_by) == (1, 1, "final")
    assert exchange.first_reply_ms == 2.0


def test_only_the_first_final_one_counts() -> None:
    talk = Talk()
    talk.say(OPENER, request(1))
    first = talk.say(ACCEPTOR, final(1))
    talk.say(ACCEPTOR, final(1))
    assert the_one(talk).final is first


def test_exchange_is_over_a_while_after_its_final_one() -> None:
    talk = Talk()
    walker = Exchanges()
    talk.say(OPENER, request(1))
    talk.say(ACCEPTOR, final(1))
    talk.later_ns = (LATE_RESPONSE_SECONDS_MAX - 1) * SECOND
    talk.say(OPENER, request(2))
    assert [walker.feed(event) for event in talk.events] == [[], [], []]
    talk.later_ns += 2 * SECOND
    [over] = walker.feed(talk.say(OPENER, request(3)))
    assert over.request_id == 1
    assert [exchange.request_id for exchange in walker.finish()] == [2, 3]


def test_number_used_again_ends_the_one_before() -> None:
    talk = Talk()
    talk.say(OPENER, request(1), "old")
    talk.say(ACCEPTOR, reply(1))
    talk.say(OPENER, request(1), "new")
    talk.say(ACCEPTOR, reply(1))
    talk.say(ACCEPTOR, final(1))
    old, new = exchanges(talk.events)
    assert (old.key, old.replies, old.ended_by) == ("old", 1, None)
    assert (new.key, new.replies, new.ended_by) == ("new", 1, "final")


def test_answers_without_a_request() -> None:
    talk = Talk()
    talk.say(ACCEPTOR, reply(7))
    talk.say(ACCEPTOR, final(7))
    exchange = the_one(talk)
    assert exchange.request is None
    assert (exchange.request_id, exchange.replies, exchange.ended_by) == (7, 1, "final")
    assert (exchange.requester_zid, exchange.responder_zid) == ("aa", "bb")
    assert (exchange.key, exchange.parameters, exchange.timeout_ms) == (None, None, None)
    assert (exchange.first_reply_ms, exchange.final_ms) == (None, None)


@pytest.mark.parametrize("change", ["closed", "lost", "refused"])
def test_session_ends_what_is_open(change: str) -> None:
    talk = Talk()
    walker = Exchanges()
    talk.say(OPENER, request(1))
    talk.say(OPENER, request(2))
    talk.say(ACCEPTOR, final(1))
    talk.change("joined")
    assert [walker.feed(event) for event in talk.events] == [[]] * 4
    over = walker.feed(talk.change(change))
    assert [(each.request_id, each.ended_by) for each in over] == [(1, "final"), (2, "session")]
    assert walker.finish() == []


def test_request_after_the_end_of_its_session() -> None:
    talk = Talk()
    talk.change("closed")
    talk.say(OPENER, request(1))
    assert the_one(talk).ended_by == "session"


def test_end_of_the_capture() -> None:
    talk = Talk()
    talk.say(OPENER, request(1))
    assert the_one(talk).ended_by == "end"


def test_ignored_messages_do_not_count() -> None:
    talk = Talk()
    talk.say(OPENER, request(1))
    talk.say(ACCEPTOR, reply(1)).ignored = "old sequence number"
    assert the_one(talk).replies == 0


def test_messages_without_a_session_belong_to_none() -> None:
    talk = Talk()
    talk.say(OPENER, request(1)).session = None
    assert list(exchanges(talk.events)) == []


def test_exchange_of_a_message() -> None:
    talk = Talk()
    walker = Exchanges()
    asked = talk.say(OPENER, request(1))
    answer = talk.say(ACCEPTOR, reply(1))
    assert walker.exchange_of(answer) is None
    walker.feed(asked)
    walker.feed(answer)
    exchange = walker.exchange_of(answer)
    assert exchange is not None
    assert exchange is walker.exchange_of(asked)
    assert exchange.replies == 1


def test_group_answers_go_to_the_latest_request() -> None:
    talk = GroupTalk()
    talk.say_as("m1", request(1))
    talk.say_as("m2", reply(1))
    talk.say_as("m2", final(1))
    exchange = the_one(talk)
    assert (exchange.replies, exchange.ended_by) == (1, "final")
    assert (exchange.requester_zid, exchange.responder_zid) == ("zid of m1", None)


def test_responses_beyond_the_limit_are_counted() -> None:
    talk = Talk()
    talk.say(OPENER, request(1))
    for _ in range(10):
        talk.say(ACCEPTOR, reply(1, bytes(1 << 20)))
    exchange = the_one(talk)
    assert exchange.replies == 10
    assert len(exchange.responses) == 4


def test_open_exchanges_of_a_session_are_limited() -> None:
    talk = Talk()
    walker = Exchanges(per_session_max=3)
    for number in range(3):
        assert walker.feed(talk.say(OPENER, request(number))) == []
    [oldest] = walker.feed(talk.say(OPENER, request(3)))
    assert (oldest.request_id, oldest.ended_by) == (0, None)
    assert [exchange.request_id for exchange in walker.finish()] == [1, 2, 3]


def test_kept_bytes_are_limited_and_finished_ones_go_first() -> None:
    talk = Talk()
    walker = Exchanges(bytes_max=80_000)
    over: list[Exchange] = []
    for number in range(10):
        over += walker.feed(talk.say(OPENER, request(number)))
        over += walker.feed(talk.say(ACCEPTOR, reply(number, bytes(8_000))))
        if number in (1, 3):
            over += walker.feed(talk.say(ACCEPTOR, final(number)))
    assert [(each.request_id, each.ended_by) for each in over] == [
        (1, "final"),
        (3, "final"),
        (0, None),
    ]


def test_one_exchange_larger_than_all_may_be_is_spared() -> None:
    talk = Talk()
    walker = Exchanges(bytes_max=1)
    assert walker.feed(talk.say(OPENER, request(1))) == []
    assert walker.feed(talk.say(ACCEPTOR, reply(1))) == []
    [exchange] = walker.feed(talk.say(OPENER, request(2)))
    assert (exchange.request_id, exchange.replies) == (1, 1)


@pytest.mark.parametrize("name", CAPTURE_NAMES)
def test_every_real_message_belongs_to_one_exchange(name: str) -> None:
    events, counts = taken(name)
    found = list(exchanges(events))
    responses = sum(n for kind, n in counts.items() if kind.startswith("RESPONSE/"))
    assert sum(exchange.request is not None for exchange in found) == counts["REQUEST"]
    assert sum(exchange.replies + exchange.errors for exchange in found) == responses
    assert sum(exchange.final is not None for exchange in found) == counts["RESPONSE_FINAL"]
