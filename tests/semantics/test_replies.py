"""Rules about replies: the node, traces and the lake's SQL equal the ones in `semantics`."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from tests.chance import scaled, seeded
from tests.lake.derive.steps.cases import Row, by_case, columns, frame, staged
from tests.trace.built_sessions import (
    ACCEPTOR,
    KEY,
    OPENER,
    BuiltSession,
    error,
    final,
    reply,
    request,
)
from zenlake.lake.derive.duck import Engine
from zenlake.lake.derive.steps import exchanges, replies, requests, traces
from zenlake.semantics.consolidation import auto_mode, superseded
from zenlake.semantics.query_parameters import accepts_any_key
from zenlake.semantics.request_matching import FINAL, REQUEST, RESPONSE, match_requests
from zenlake.session.consolidation import Consolidation
from zenlake.trace.timelines.exchanges import exchanges as exchanges_of
from zenlake.wire import ConsolidationMode, Timestamp, ZenohId

CASES = scaled(300, 3_000)
EVENT = {"side": 0, "request_id": 1, "key": "k", "requester_zid": "a", "responder_zid": "b"}
WITH_CAPTURE = f"""
SELECT exchanges.*, events.capture FROM {{exchanges}} AS exchanges
JOIN (SELECT {exchanges.PLACE} AS place, seq, capture FROM {{events}}) AS events
    ON events.place = exchanges.place AND events.seq = exchanges.seq
"""


@pytest.fixture
def chance() -> random.Random:
    return seeded()


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine(tmp_path_factory.mktemp("engine")) as opened:
        yield opened


def random_orders(chance: random.Random) -> list[str]:
    times = chance.choice([("",), ("", "1"), ("5", "3", "1"), ("", "7", "7", "9")])
    return [chance.choice(times) for _ in range(chance.randrange(8))]


def test_session_delivers_what_is_not_superseded(chance: random.Random) -> None:
    for _ in range(CASES):
        mode = chance.choice(list(ConsolidationMode)[1:])
        orders = random_orders(chance)
        consolidation = Consolidation(mode)
        delivered = []
        for place, order in enumerate(orders):
            time = Timestamp(int(order), ZenohId.from_int(1)) if order else None
            if mode != ConsolidationMode.LATEST:
                if consolidation.passes("k", time):
                    delivered.append(place)
            elif consolidation.may_hold("k", time, 1):
                consolidation.hold("k", time, place, 1)
        for held in consolidation.release():
            assert isinstance(held.item, int)
            delivered.append(held.item)
        lost = superseded(str(mode), orders)
        assert delivered == [place for place in range(len(orders)) if place not in lost]
        assert set(lost.values()) <= set(delivered)


def test_lake_delivers_what_is_not_superseded(engine: Engine, chance: random.Random) -> None:
    cases: dict[str, list[Row]] = {}
    expected: dict[str, list[bool]] = {}
    for number in range(CASES):
        mode = chance.choice(["auto", "none", "monotonic", "latest"])
        parameters = chance.choice(["", "_time=[..]", "a;_time", "_timer"])
        orders = random_orders(chance)
        asked = {"kind": "REQUEST", "seq": 1, "timeout_ms": 1e6, "consolidation": mode}
        rows = [
            {"kind": "PUT", "seq": 2 + place, "timestamp_order": order or None}
            for place, order in enumerate(orders)
        ]
        cases[str(number)] = [{**asked, "parameters": parameters}, *rows]
        resolved = str(auto_mode(parameters)) if mode == "auto" else mode
        lost = superseded(resolved, orders)
        expected[str(number)] = [place not in lost for place in range(len(orders))]
    events = frame(engine, "exchange_events", staged(cases, **EVENT))
    exchanged: Any = exchanges.build(events)
    sent = requests.build(events, exchanged)
    found = by_case(replies.build(events, exchanged, traces.join(sent, traces.build(sent))))
    for case, delivered in expected.items():
        assert [row["delivered"] for row in found.get(case, [])] == delivered, cases[case]


def test_lake_knows_requests_that_accept_any_key(engine: Engine, chance: random.Random) -> None:
    pieces = ["_anyke", ";", "=", "|", "a"]
    texts = ["".join(chance.choices(pieces, k=chance.randrange(6))) for _ in range(CASES)]
    cases = {
        str(number): [{"kind": "REQUEST", "seq": 1, "parameters": text}]
        for number, text in enumerate(texts)
    }
    events = frame(engine, "exchange_events", staged(cases, **EVENT))
    found = by_case(requests.build(events, exchanges.build(events)))
    for number, text in enumerate(texts):
        assert found[str(number)][0]["takes_any_key"] is accepts_any_key(text), text


def random_kinds(chance: random.Random) -> list[str]:
    weights = chance.choice([(1, 1, 1), (1, 4, 1), (3, 1, 1)])
    return chance.choices((REQUEST, RESPONSE, FINAL), weights, k=1 + chance.randrange(8))


def test_lake_matches_answers_with_their_requests(engine: Engine, chance: random.Random) -> None:
    names = {REQUEST: "REQUEST", RESPONSE: "PUT", FINAL: "FINAL"}
    kinds = {str(number): random_kinds(chance) for number in range(CASES)}
    cases: dict[str, list[Row]] = {
        case: [{"kind": names[kind], "seq": place} for place, kind in enumerate(of_case)]
        for case, of_case in kinds.items()
    }
    events = frame(engine, "exchange_events", staged(cases, **EVENT))
    exchanged: Any = exchanges.build(events)
    found = by_case(engine.sql(WITH_CAPTURE, exchanges=exchanged, events=events))
    for case, of_case in kinds.items():
        matched = [tuple(one) for one in match_requests(of_case)]
        assert columns(found[case], "query_seq", "after_final") == matched, of_case


def test_traces_match_answers_with_their_requests(chance: random.Random) -> None:
    for _ in range(CASES):
        kinds = random_kinds(chance)
        built = BuiltSession()
        events = []
        for kind in kinds:
            if kind == REQUEST:
                events.append(built.send(OPENER, request(1), KEY))
            elif kind == FINAL:
                events.append(built.send(ACCEPTOR, final(1)))
            else:
                events.append(built.send(ACCEPTOR, chance.choice((reply, error))(1), KEY))
        matched = match_requests(kinds)
        for exchange in exchanges_of(built.events):
            for event, is_late in [
                *((event, False) for event in exchange.responses),
                *((event, True) for event in exchange.after_final),
            ]:
                one = matched[events.index(event)]
                asked = None if one.request is None else events[one.request]
                assert (exchange.request, is_late) == (asked, one.after_final), kinds
