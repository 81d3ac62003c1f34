"""Matching status and its listeners (behaviour reference §2.3)."""

from __future__ import annotations

import pytest

from tests.session.network import ANY, ListSink, pair, serve, subscribe, two_nodes
from zenlake.session import Locality
from zenlake.wire import Interest, InterestMode, WhatAmI

ROLES = [(WhatAmI.PEER, WhatAmI.PEER), (WhatAmI.CLIENT, WhatAmI.PEER)]


@pytest.mark.parametrize(("a", "b"), ROLES)
def test_publisher_gets_each_change_once(a: WhatAmI, b: WhatAmI) -> None:
    network, here, there = pair(a, b)
    publisher = here.declare_publisher("k/*", ANY, network.now)
    network.pump()
    statuses = ListSink()
    here.declare_matching_listener(publisher, statuses, network.now)
    assert statuses.items == []
    near = here.declare_subscriber("k/1", ListSink(), ANY, network.now)
    far = there.declare_subscriber("**", ListSink(), ANY, network.now)
    network.pump()
    here.undeclare(near, network.now)
    assert here.matching.is_matching(publisher)
    assert statuses.items == [True]
    there.undeclare(far, network.now)
    network.pump()
    assert statuses.items == [True, False]
    subscribe(there, "k/**")
    network.pump()
    later = ListSink()
    listener = here.declare_matching_listener(publisher, later, network.now)
    assert later.items == [True]
    here.undeclare(listener, network.now)
    assert later.is_closed
    here.undeclare(publisher, network.now)
    assert statuses.is_closed


@pytest.mark.parametrize(("a", "b"), ROLES)
def test_querier_tests_inclusion_of_others(a: WhatAmI, b: WhatAmI) -> None:
    network, here, there = pair(a, b)
    querier = here.declare_querier("k/*", ANY, False, network.now)
    all_complete = here.declare_querier("k/*", ANY, True, network.now)
    network.pump()
    status = [here.matching.is_matching(one) for one in (querier, all_complete)]
    assert status == [False, False]
    serve(there, "k/1", complete=True)
    network.pump()
    assert not here.matching.is_matching(querier)  # intersects, does not include
    serve(there, "k/**")
    network.pump()
    status = [here.matching.is_matching(one) for one in (querier, all_complete)]
    assert status == [True, False]
    serve(there, "k/**", complete=True)
    network.pump()
    assert here.matching.is_matching(all_complete)


def test_querier_tests_own_by_intersection() -> None:
    network, here, _ = pair()
    querier = here.declare_querier("k/*", ANY, False, network.now)
    all_complete = here.declare_querier("k/*", ANY, True, network.now)
    serve(here, "k/1", complete=True)
    status = [here.matching.is_matching(one) for one in (querier, all_complete)]
    assert status == [True, False]


@pytest.mark.parametrize("destination", list(Locality))
def test_only_what_locality_allows_counts(destination: Locality) -> None:
    network, here, there = pair()
    publisher = here.declare_publisher("k", destination, network.now)
    subscribe(here, "k")
    network.pump()
    assert here.matching.is_matching(publisher) == (destination != Locality.REMOTE)
    subscribe(there, "k")
    network.pump()
    assert here.matching.is_matching(publisher)


def test_publishers_on_one_key_share_an_interest_and_local_ones_send_none() -> None:
    network, client, _, (there, _) = two_nodes(WhatAmI.CLIENT)
    core = client.core
    core.declare_publisher("k", Locality.SESSION_LOCAL, network.now)
    publishers = [core.declare_publisher("k", ANY, network.now) for _ in range(2)]
    for publisher in publishers:
        core.undeclare(publisher, network.now)
    modes = [one.mode for one in there.log if isinstance(one, Interest)]
    assert modes == [InterestMode.CURRENT_FUTURE, InterestMode.FINAL]


def test_entities_without_an_interest_are_removed() -> None:
    network, here, there = pair(WhatAmI.CLIENT, WhatAmI.PEER)
    far = there.declare_subscriber("k", ListSink(), ANY, network.now)
    publisher = here.declare_publisher("k", ANY, network.now)
    network.pump()
    assert here.matching.is_matching(publisher)
    here.undeclare(publisher, network.now)
    network.pump()
    there.undeclare(far, network.now)
    network.pump()
    again = here.declare_publisher("k", ANY, network.now)
    network.pump()
    assert not here.matching.is_matching(again)
