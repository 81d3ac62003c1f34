"""Several routers: declarations, publications and queries along trees (§4.7)."""

from __future__ import annotations

import pytest

from tests.routing.playbook import (
    interest,
    no_queryable,
    no_subscriber,
    no_token,
    put,
    queryable,
    reply,
    request,
    response_final,
    subscriber,
    token,
    zid_of,
)
from tests.routing.web import Web, web_of
from zenlake.wire import QueryTarget

# Declarations.


def test_a_publication_crosses_three_routers() -> None:
    web = web_of("abc")
    web.sends("cc", subscriber(1, "k/*"))
    assert web.sent("c", "b") == ["D_SUB 0 k/*"]
    assert web.sent("b", "a") == ["D_SUB 0 k/* of 2"]
    web.sends("ca", put("k/1"), put("j"))
    web.receives("cc", "PUT x k/1")
    assert web.sent("a", "b") == ["PUT x k/1"]
    assert web.sent("b", "c") == ["PUT x k/1 of 1"]
    web.sends("cc", no_subscriber(1))
    assert web.sent("c", "b") == ["U_SUB 0"]
    assert web.sent("b", "a") == ["U_SUB 0 of 2"]
    web.sends("ca", put("k/1"))
    assert web.sent("a", "b") == []


def test_a_router_declares_a_key_once_however_many_hold_it() -> None:
    web = web_of("ab")
    web.connects("ca2", "client", "a")
    web.connects("pa", "peer", "a")
    web.sends("ca", subscriber(1, "k"))
    web.sends("ca2", subscriber(1, "k"))
    web.sends("pa", subscriber(1, "k"))
    assert web.sent("a", "b") == ["D_SUB 0 k"]
    web.sends("ca", no_subscriber(1))
    web.disconnects("ca2")
    assert web.sent("a", "b") == []
    web.disconnects("pa")
    assert web.sent("a", "b") == ["U_SUB 0"]


def test_a_router_does_not_declare_what_other_routers_have() -> None:
    web = web_of("ab")
    web.sends("ca", subscriber(1, "k"))
    web.clear_received()
    web.sends("cb", subscriber(1, "k"))
    assert web.sent("b", "a") == ["D_SUB 0 k"]
    assert web.sent("a", "b") == []


def test_changed_queryables_are_declared_again() -> None:
    web = web_of("abc")
    web.sends("ca", queryable(1, "q"))
    web.sends("ca", queryable(1, "q", complete=True))
    assert web.sent("b", "c") == ["D_QBL 0 q of 1", "D_QBL 0 q (complete, distance 0) of 1"]
    web.sends("cc", interest(1, "current_future", "Q", "q"))
    web.receives("cc", "D_QBL 1 q (complete, distance 0) for 1", "D_FINAL for 1")
    web.sends("ca", no_queryable(1))
    web.receives("cc", "U_QBL 1")


def test_interests_are_answered_from_what_the_network_declared() -> None:
    web = web_of("abc")
    web.sends("ca", subscriber(1, "k"), token(1, "t"))
    web.sends("cc", interest(1, "current_future", "KS", "k"), interest(2, "current", "KT", "t"))
    web.receives("cc", "D_SUB 1 k for 1", "D_FINAL for 1", "D_TOKEN 0 t for 2", "D_FINAL for 2")
    assert web.sent("c", "b") == []


def test_tokens_appear_and_disappear_across_the_network() -> None:
    web = web_of("abc")
    web.sends("cc", interest(1, "current_future", "KT", "t/*"))
    web.sends("ca", token(1, "t/1"))
    web.sends("cb", token(1, "t/1"))
    web.receives("cc", "D_FINAL for 1", "D_TOKEN 1 t/1")
    web.sends("ca", no_token(1))
    web.receives("cc")
    web.disconnects("cb")
    web.receives("cc", "U_TOKEN 1")


def test_a_new_router_gets_everything_once() -> None:
    web = web_of("ab")
    web.sends("ca", subscriber(1, "s"), token(2, "t"))
    web.sends("cb", queryable(1, "q", complete=True))
    web.clear_received()
    web.starts("n")
    web.link("b", "n")
    assert sorted(web.sent("b", "n")) == [
        "D_QBL 0 q (complete, distance 0)",
        "D_SUB 0 s of 1",
        "D_TOKEN 0 t of 1",
    ]
    web.link("n", "a")
    declared = web.sent("b", "n") + web.sent("a", "n")
    assert all(line.startswith(("D_SUB", "D_TOKEN", "D_QBL")) for line in declared)


def test_declarations_of_a_router_end_with_it() -> None:
    web = web_of("abc")
    web.sends("cc", subscriber(1, "k"), token(2, "t"))
    web.sends("ca", interest(1, "current_future", "KST", None))
    web.clear_received()
    web.unlink("b", "c")
    web.receives("ca", "U_SUB 1", "U_TOKEN 2")
    assert web.sent("b", "a") == []
    web.sends("ca", put("k"))
    assert web.sent("a", "b") == []
    web.link("b", "c")
    web.receives("ca", "D_SUB 3 k", "D_TOKEN 4 t")


def test_a_restarted_router_has_only_its_new_declarations() -> None:
    web = web_of("abc")
    web.sends("cc", subscriber(1, "old"))
    web.stops("c")
    web.starts("c")
    web.connects("cc", "client", "c")
    web.sends("cc", subscriber(1, "new"))
    web.link("b", "c")
    web.sends("ca", put("old"), put("new"))
    web.receives("cc", "PUT x new")


# Paths.


def test_one_copy_goes_over_each_link_of_a_ring() -> None:
    web = web_of("abcd", "da")
    for name in ("cb", "cc", "cd"):
        web.sends(name, subscriber(1, "k"))
    web.clear_received()
    web.sends("ca", put("k"))
    for name in ("cb", "cc", "cd"):
        web.receives(name, "PUT x k")
    pairs = [pair for pair in web.wires if web.wires[pair].log]
    assert len(pairs) == 3
    assert len({frozenset(pair) for pair in pairs}) == 3


def test_a_ring_that_breaks_still_delivers_once() -> None:
    web = web_of("abcd", "da")
    web.sends("cc", subscriber(1, "k"))
    for one, other in ("ab", "bc", "cd", "da"):
        web.unlink(one, other)
        web.sends("ca", put("k"))
        web.receives("cc", "PUT x k")
        web.link(one, other)
        web.sends("ca", put("k"))
        web.receives("cc", "PUT x k")


def test_weights_choose_the_path() -> None:
    web = web_of("abc", "ca")
    web.sends("cc", subscriber(1, "k"))
    web.clear_received()
    network = web.routers["a"].tables.routers
    assert network is not None
    network.network.flooding.set_weights({zid_of("c"): 1000}, web.now)
    web.settle()
    web.sends("ca", put("k"))
    web.receives("cc", "PUT x k")
    assert "PUT x k" in web.sent("a", "b")
    assert "PUT x k" not in web.sent("a", "c")


def test_peers_of_different_routers_reach_each_other() -> None:
    web = web_of("ab")
    web.connects("pa", "peer", "a")
    web.connects("pb", "peer", "b")
    web.sends("pa", subscriber(1, "k"), queryable(1, "q"), token(1, "t"))
    web.sends("pb", put("k"), request(1, "q"), interest(1, "current", "KT", "t"))
    web.receives("pa", "PUT x k", "REQUEST 1 q")
    web.sends("pa", reply(1, "q"), response_final(1))
    web.receives(
        "pb", "D_TOKEN 0 t for 1", "D_FINAL for 1", "RESPONSE 1 PUT r q", "RESPONSE_FINAL 1"
    )


# Queries.


@pytest.fixture
def star() -> Web:
    """Three routers around `m`, with queryables of every kind."""
    web = web_of("am", "bm", "cm")
    web.sends("ca", queryable(1, "q/**", complete=True))
    web.sends("cb", queryable(1, "q/**", complete=True))
    web.sends("cc", queryable(1, "q/1"))
    web.clear_received()
    return web


@pytest.mark.parametrize(
    ("target", "count"),
    [
        (None, 1),
        (QueryTarget.ALL, 3),
        (QueryTarget.ALL_COMPLETE, 2),
        (QueryTarget.BEST_MATCHING, 1),
    ],
)
def test_targets_across_routers(star: Web, target: QueryTarget | None, count: int) -> None:
    star.sends("cm", request(1, "q/*", target))
    asked = [name for name in ("ca", "cb", "cc") if star.received(name)]
    assert len(asked) == count
    if target is not None and target == QueryTarget.ALL_COMPLETE:
        assert asked == ["ca", "cb"]
    for name in asked:
        star.receives("cm")
        star.sends(name, response_final(1))
    star.receives("cm", "RESPONSE_FINAL 1")


def test_the_nearest_complete_queryable_is_asked() -> None:
    web = web_of("abc", "ad")
    for name in ("cb", "cc", "cd"):
        web.sends(name, queryable(1, "q", complete=True))
    weights = web.routers["a"].tables.routers
    assert weights is not None
    weights.network.flooding.set_weights({zid_of("d"): 300}, web.now)
    web.settle()
    web.sends("ca", request(1, "q"))
    web.receives("cd")
    web.receives("cb", "REQUEST 1 q")
    # The choice is made in each region again, and the next router is another region.
    web.receives("cc", "REQUEST 1 q")


def test_several_routers_behind_one_are_asked_by_one_request(star: Web) -> None:
    star.sends("ca", no_queryable(1))
    star.clear_received()
    star.sends("ca", request(1, "q/1", QueryTarget.ALL))
    assert star.sent("a", "m") == ["REQUEST 1 q/1"]
    assert star.sent("m", "b") == ["REQUEST 1 q/1 of 1"]
    assert star.sent("m", "c") == ["REQUEST 1 q/1 of 1"]
    star.sends("cb", reply(1, "q/1", "b"), response_final(1))
    star.sends("cc", reply(1, "q/1", "c"), response_final(1))
    star.receives("ca", "RESPONSE 1 PUT b q/1", "RESPONSE 1 PUT c q/1", "RESPONSE_FINAL 1")


def test_a_query_ends_when_the_path_to_the_replier_breaks() -> None:
    web = web_of("abc")
    web.sends("cc", queryable(1, "q"))
    web.sends("ca", request(1, "q"))
    web.unlink("b", "c")
    web.receives("ca", "RESPONSE_FINAL 1")
