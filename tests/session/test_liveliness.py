"""Presence (behaviour reference §2.8)."""

from __future__ import annotations

import pytest

from tests.session.network import ListSink, pair, two_nodes
from zenlake.session import SessionCore
from zenlake.testing.simulation.items import Error, Ok
from zenlake.wire import Interest, InterestMode, WhatAmI

ROLES = [(WhatAmI.PEER, WhatAmI.PEER), (WhatAmI.CLIENT, WhatAmI.PEER)]


def watch(core: SessionCore, key: str, history: bool, now: float) -> ListSink:
    sink = ListSink()
    core.declare_liveliness_subscriber(key, sink, history, now)
    return sink


@pytest.mark.parametrize(("a", "b"), ROLES)
def test_appearance_is_a_put_and_disappearance_a_delete(a: WhatAmI, b: WhatAmI) -> None:
    network, here, there = pair(a, b)
    sinks = [watch(core, "t/**", False, network.now) for core in (here, there)]
    network.pump()
    token = there.declare_token("t/1", network.now)
    network.pump()
    there.undeclare(token, network.now)
    network.pump()
    for sink in sinks:
        assert sink.samples == [("t/1", b""), ("t/1", None)]


@pytest.mark.parametrize(("a", "b"), ROLES)
def test_history_contains_earlier_tokens(a: WhatAmI, b: WhatAmI) -> None:
    network, here, there = pair(a, b)
    tokens = [core.declare_token(f"t/{core.zid}", network.now) for core in (here, there)]
    network.pump()
    keys = sorted(token.key for token in tokens)
    with_history = [watch(core, "t/*", True, network.now) for core in (here, there)]
    without = [watch(core, "t/*", False, network.now) for core in (here, there)]
    network.pump()
    assert [sorted(key for key, _ in sink.samples) for sink in with_history] == [keys, keys]
    assert [sink.samples for sink in without] == [[], []]
    there.undeclare(tokens[1], network.now)
    network.pump()
    for sink in (*with_history, *without):
        assert sink.samples[-1] == (tokens[1].key, None)


def test_tokens_on_one_key_count_as_one() -> None:
    network, here, there = pair()
    sinks = [watch(core, "t", True, network.now) for core in (here, there)]
    tokens = [core.declare_token("t", network.now) for core in (here, here, there)]
    network.pump()
    for token, core in zip(tokens, (here, here, there), strict=True):
        assert [sink.samples for sink in sinks] == [[("t", b"")]] * 2
        core.undeclare(token, network.now)
        network.pump()
    assert [sink.samples for sink in sinks] == [[("t", b""), ("t", None)]] * 2


def test_second_watcher_with_history_gets_what_the_first_knows() -> None:
    network, here, there = pair(WhatAmI.CLIENT, WhatAmI.PEER)
    there.declare_token("t", network.now)
    first = watch(here, "t", True, network.now)
    network.pump()
    second = watch(here, "t", True, network.now)
    network.pump()
    assert first.samples == second.samples == [("t", b"")]


@pytest.mark.parametrize(("a", "b"), ROLES)
def test_get_returns_each_token_once(a: WhatAmI, b: WhatAmI) -> None:
    network, here, there = pair(a, b)
    here.declare_token("t/1", network.now)
    there.declare_token("t/1", network.now)
    there.declare_token("t/2", network.now)
    network.pump()
    sink = ListSink()
    here.liveliness_get("t/*", sink, 1_000, network.now)
    network.pump()
    assert sink.is_closed
    assert sorted(key for key, _ in sink.samples) == ["t/1", "t/2"]
    assert all(isinstance(item, Ok) and item.responder is None for item in sink.items)


def test_get_times_out() -> None:
    network, client, _, lines = two_nodes(WhatAmI.CLIENT)
    lines[0].is_cut = True  # the gateway never receives it
    sink = ListSink()
    client.core.liveliness_get("t", sink, 1_000, network.now)
    client.core.handle_timeout(network.now + 1)
    (error,) = sink.items
    assert isinstance(error, Error)
    assert error.payload == b"Timeout"
    assert sink.is_closed


def test_lost_gateway_ends_what_it_declared() -> None:
    network, client, gateway, lines = two_nodes(WhatAmI.CLIENT)
    gateway.core.declare_token("t", network.now)
    sink = watch(client.core, "t", True, network.now)
    network.pump()
    network.cut(lines)
    assert sink.samples == [("t", b""), ("t", None)]
    network.connect(client, gateway)
    assert sink.samples[2:] == [("t", b"")]


def test_interest_ends_with_the_last_subscriber_on_its_key() -> None:
    network, client, _, (there, _) = two_nodes(WhatAmI.CLIENT)
    sinks = [ListSink(), ListSink()]
    watchers = [
        client.core.declare_liveliness_subscriber("t", sink, False, network.now) for sink in sinks
    ]
    for watcher in watchers:
        client.core.undeclare(watcher, network.now)
    modes = [one.mode for one in there.log if isinstance(one, Interest)]
    assert modes == [InterestMode.FUTURE, InterestMode.FINAL]
    assert all(sink.is_closed for sink in sinks)


def test_late_answers_to_a_query_are_not_reported() -> None:
    network, client, gateway, _ = two_nodes(WhatAmI.CLIENT)
    token = gateway.core.declare_token("t", network.now)
    for _ in range(2):  # the second query removes the first
        query = client.core.liveliness_get("t", ListSink(), 1_000, network.now)
        query.abandon()
    network.pump()
    sink = watch(client.core, "t", True, network.now)
    network.pump()
    gateway.core.undeclare(token, network.now)
    network.pump()
    assert sink.samples == [("t", b""), ("t", None)]
