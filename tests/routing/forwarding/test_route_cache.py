"""Cached routes are removed exactly when a change concerns them."""

from __future__ import annotations

import random
from sys import getrefcount

from tests.routing.playbook import (
    Play,
    alias,
    connected,
    final,
    interest,
    no_alias,
    no_queryable,
    no_subscriber,
    put,
    queryable,
    request,
    response_final,
    subscriber,
    token,
)
from zenlake.keyexpr.matching import intersects
from zenlake.limits import CACHED_ROUTES_MAX
from zenlake.routing.forwarding.route import Route
from zenlake.routing.forwarding.route_cache import (
    FORGET_STEPS,
    FREED_AT_ONCE_MAX,
    ONCE_USED_MAX,
    RouteCache,
)
from zenlake.routing.work import Work


def play_with_routes() -> Play:
    """A router that knows where publications and queries on `a/b` and `c/d` go."""
    play = Play("router", gossip=False)
    for name in ("c1", "c2", "c3"):
        play.connects(name, "client")
    play.sends("c2", subscriber(1, "a/*"), subscriber(2, "c/*"))
    play.sends("c2", queryable(1, "a/*"), queryable(2, "c/*"))
    for number, key in enumerate(("a/b", "c/d"), 1):
        play.sends("c1", put(key), request(number, key))
        play.sends("c2", response_final(number))
    play.clear_received()
    return play


def kept(play: Play) -> tuple[list[str], list[str]]:
    origin = play.faces["c1"].origin
    return sorted(origin.routes), sorted(origin.query_routes)


def test_a_declaration_removes_exactly_the_routes_it_intersects() -> None:
    play = play_with_routes()
    route = play.faces["c1"].origin.routes["c/d"]
    play.sends("c3", subscriber(1, "a/b"))
    assert kept(play) == (["c/d"], ["a/b", "c/d"])
    play.sends("c3", queryable(1, "a/**"))
    assert kept(play) == (["c/d"], ["c/d"])
    play.sends("c1", put("a/b"))
    play.sends("c3", no_subscriber(1), no_queryable(1))
    assert kept(play) == (["c/d"], ["c/d"])
    assert route.is_current
    play.sends("c3", subscriber(2, "**"))
    assert kept(play) == ([], ["c/d"])
    assert not route.is_current


def test_keys_that_nobody_subscribes_to_share_a_route() -> None:
    """A publisher may use any number of keys, and Python's garbage collector visits each route."""
    play = play_with_routes()
    play.sends("c1", put("x/1"), put("x/2"), put("a/c"))
    routes = play.faces["c1"].origin.routes
    assert routes["x/1"] is routes["x/2"]
    assert routes["a/b"] is not routes["a/c"]
    play.sends("c3", subscriber(1, "x/1"))
    play.sends("c1", put("x/1"), put("x/2"))
    assert [face.zid for face in routes["x/1"].faces] == [play.faces["c3"].zid]
    assert routes["x/2"].faces == []


def test_tokens_interests_and_clients_without_declarations_remove_no_route() -> None:
    play = play_with_routes()
    play.sends("c3", token(1, "**"), interest(1, "current_future", "KSQT", "**"))
    play.connects("c4", "client")
    play.disconnects("c4")
    play.disconnects("c3")
    assert kept(play) == (["a/b", "c/d"], ["a/b", "c/d"])


def test_the_end_of_a_client_removes_routes_to_it() -> None:
    play = play_with_routes()
    play.sends("c3", subscriber(1, "a/b"), queryable(1, "c/d"))
    play.sends("c1", put("a/b"), request(9, "c/d"))
    play.disconnects("c3")
    assert kept(play) == (["c/d"], ["a/b"])
    play.sends("c1", put("a/b"))
    play.receives("c2", "PUT x a/b", "REQUEST 3 c/d", "PUT x a/b")


def test_the_end_of_a_client_with_many_declarations_removes_all_routes() -> None:
    play = play_with_routes()
    play.sends("c3", *(subscriber(number, f"x/{number}") for number in range(1, 100)))
    assert kept(play)[0] == ["a/b", "c/d"]
    play.disconnects("c3")
    assert kept(play) == ([], [])


def test_an_alias_removes_the_routes_whose_keys_it_shortens() -> None:
    play = play_with_routes()
    play.sends("c2", alias(1, "a"))
    assert kept(play)[0] == ["c/d"]
    play.sends("c1", put("a/b"))
    play.receives("c2", "PUT x [yours 1]/b")
    play.sends("c2", no_alias(1))
    play.sends("c1", put("a/b"))
    play.receives("c2", "PUT x a/b")


def test_an_undeclared_alias_is_not_used_for_any_key() -> None:
    play = connected("router", {"c1": "client", "c2": "client"}, gossip=False)
    play.sends("c2", alias(1, "a"), subscriber(1, "a/@v/b"))
    play.sends("c1", put("a/@v/b"))
    play.sends("c2", no_alias(1))
    play.sends("c1", put("a/@v/b"))
    play.receives("c2", "PUT x [yours 1]/@v/b", "PUT x a/@v/b")


def test_an_answer_of_the_gateway_removes_the_routes_it_concerns() -> None:
    play = connected("client", {"app": "", "r": "router"})
    play.sends("app", interest(1, "current_future", "KS", "a"), put("a"), put("b"))
    play.sends("r", final(1))
    assert sorted(play.faces["app"].origin.routes) == ["b"]
    play.clear_received()
    play.sends("app", put("a"))
    play.nothing_received()


def test_an_undeclaration_during_the_removal_of_another_holder_removes_the_route() -> None:
    play = Play("router", gossip=False)
    for name in ("c1", "c2", "c3"):
        play.connects(name, "client")
    play.sends("c2", subscriber(1, "k"))
    play.sends("c3", *(token(number, f"t/{number}") for number in range(200)), subscriber(1, "k"))
    face = play.faces.pop("c3")
    play.dispatcher.remove_face(face, play.now, 1)
    play.sends("c1", put("k"))
    play.receives("c2", "PUT x k")
    play.sends("c2", no_subscriber(1))
    play.sends("c1", put("k"))
    play.work()
    play.nothing_received()


def test_a_change_that_concerns_too_many_keys_removes_all_routes() -> None:
    cache: RouteCache[Route] = RouteCache(Work())
    routes: dict[str, Route] = {}
    cache.add_origin(routes)
    for number in range(FORGET_STEPS):
        cache.add(routes, f"k/{number}/x", Route([], []))
    cache.forget("*/*/y")
    assert routes == {}
    assert len(cache) == 0


def test_a_change_that_concerns_keys_of_very_many_origins_removes_all_routes() -> None:
    cache: RouteCache[Route] = RouteCache(Work())
    origins: list[dict[str, Route]] = [{} for _ in range(1000)]
    for routes in origins:
        cache.add_origin(routes)
    for number in range(50):
        cache.add(origins[number], f"k/{number}", Route([], []))
    cache.forget("k/1")
    assert len(cache) == 49
    cache.forget("k/*")
    assert len(cache) == 0
    assert not any(origins)


def test_random_changes_remove_exactly_the_routes_they_intersect() -> None:
    chance = random.Random(1)
    keys = ["a", "a/b", "a/*", "a/$*b", "**", "*/b", "c/**/b", "@v/a", "a/b/c"]
    for _ in range(200):
        cache: RouteCache[Route] = RouteCache(Work())
        origins: list[dict[str, Route]] = [{}, {}]
        for routes in origins:
            cache.add_origin(routes)
            for key in chance.sample(keys, 5):
                cache.add(routes, key, Route([], []))
        before = [dict(routes) for routes in origins]
        changed = chance.choice(keys)
        cache.forget(changed)
        for routes, old in zip(origins, before, strict=True):
            assert routes == {key: old[key] for key in old if not intersects(key, changed)}
            assert all(route.is_current == (key in routes) for key, route in old.items())
        assert len(cache) == len({key for routes in origins for key in routes})


def test_the_cache_of_all_origins_together_is_bounded() -> None:
    cache: RouteCache[Route] = RouteCache(Work())
    origins: list[dict[str, Route]] = [{}, {}, {}]
    for routes in origins:
        cache.add_origin(routes)
    route = Route([], [])
    for number in range(CACHED_ROUTES_MAX):
        cache.add(origins[number % 3], f"k/{number}", route)
        assert sum(map(len, origins)) <= CACHED_ROUTES_MAX
    long_key = "k/" * 2000 + "k"
    for number in range(CACHED_ROUTES_MAX // 8):
        cache.add(origins[0], f"{long_key}/{number}", route)
    assert sum(map(len, origins)) <= CACHED_ROUTES_MAX // 8


def test_of_many_keys_only_those_that_are_used_twice_are_cached() -> None:
    cache: RouteCache[Route] = RouteCache(Work())
    routes: dict[str, Route] = {}
    cache.add_origin(routes)
    first, others = Route([], []), Route([], [])
    for number in range(ONCE_USED_MAX):
        cache.offer(routes, f"k/{number}", first)
    assert len(cache) == ONCE_USED_MAX
    for number in range(10_000):
        cache.offer(routes, f"once/{number}", others)
    # A few have the mark of another key.
    assert len(cache) < ONCE_USED_MAX + 500
    cache.offer(routes, "twice", others)
    cache.offer(routes, "twice", others)
    assert routes["twice"] is others
    assert routes["k/0"] is first
    cache.forget("twice")
    assert "twice" not in routes


def test_publications_on_many_keys_reach_subscribers_that_come_and_go() -> None:
    play = Play("router", gossip=False)
    for name in ("c1", "c2"):
        play.connects(name, "client")
    play.sends("c2", subscriber(1, "k/**"))
    for number in range(ONCE_USED_MAX + 10):
        play.sends("c1", put(f"k/{number}"))
    play.clear_received()
    play.sends("c1", put("k/new"))
    play.receives("c2", "PUT x k/new")
    play.sends("c2", no_subscriber(1))
    play.sends("c1", put("k/new"), put("k/1"))
    play.nothing_received()
    play.sends("c2", subscriber(2, "k/new"))
    play.sends("c1", put("k/new"), put("k/new"), put("k/1"))
    play.receives("c2", "PUT x k/new", "PUT x k/new")


def test_many_routes_are_freed_in_short_slices() -> None:
    work = Work()
    cache: RouteCache[Route] = RouteCache(work)
    routes: dict[str, Route] = {}
    cache.add_origin(routes)
    for number in range(10 * FREED_AT_ONCE_MAX):
        cache.add(routes, f"k/{number}", Route([], []))
    last = routes["k/7"]
    cache.forget_all()
    assert routes == {}
    assert not last.is_current
    references = getrefcount(last)
    slices = 0
    while work.run_jobs(1000):
        slices += 1
    assert slices > 15
    assert getrefcount(last) == references - 1


def test_routes_of_a_removed_origin_are_removed() -> None:
    cache: RouteCache[Route] = RouteCache(Work())
    routes: dict[str, Route] = {}
    cache.add_origin(routes)
    route = Route([], [])
    cache.add(routes, "k", route)
    cache.remove_origin(routes)
    assert routes == {}
    assert not route.is_current
    cache.forget("k")
    assert len(cache) == 0
