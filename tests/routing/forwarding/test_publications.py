"""PUSH: its receivers, the fields that forwarding changes, and those it keeps (§4.2, §4.6)."""

from __future__ import annotations

from tests.routing.playbook import (
    OWN_ZID,
    Play,
    alias,
    connected,
    final,
    interest,
    no_alias,
    no_token,
    put,
    queryable,
    subscriber,
    token,
    zid_of,
)
from zenlake.limits import CACHED_ROUTES_MAX
from zenlake.routing.hlc import FUTURE_NTP64_MAX
from zenlake.wire import Del, Extension, Push, Put, QoS, Timestamp, WireExpr
from zenlake.wire.values.timestamp import ntp64_of_ns

WALL_NS = 1_700_000_000_123_456_789


def peer_with_clients() -> Play:
    play = connected("peer", {"app": "", "c1": "client", "c2": "client"}, gossip=False)
    return play


def test_a_neighbour_with_several_subscribers_gets_one_copy() -> None:
    play = peer_with_clients()
    play.sends("c1", subscriber(1, "a/*"), subscriber(2, "a/b"), subscriber(3, "**"))
    play.sends("app", put("a/b"))
    play.receives("c1", "PUT x a/b")


def test_a_wildcard_publication_reaches_all_it_intersects() -> None:
    play = peer_with_clients()
    play.sends("c1", subscriber(1, "a/b"))
    play.sends("c2", subscriber(1, "a/*/c"))
    play.sends("app", put("a/*"))
    play.receives("c1", "PUT x a/*")
    play.receives("c2")
    play.sends("app", put("**"))
    play.receives("c1", "PUT x **")
    play.receives("c2", "PUT x **")


def test_routes_follow_every_change() -> None:
    play = peer_with_clients()
    play.sends("app", put("k"))
    play.sends("c1", subscriber(1, "k"))
    play.sends("app", put("k", "1"))
    play.sends("c1", alias(7, "k"))
    play.sends("app", put("k", "2"))
    play.sends("c1", no_alias(7))
    play.sends("app", put("k", "3"))
    play.receives("c1", "PUT 1 k", "PUT 2 [yours 7]", "PUT 3 k")
    play.disconnects("c1")
    play.sends("app", put("k", "4"))
    play.nothing_received()


def test_qos_body_and_reliability_are_kept_and_the_fork_drops_the_timestamp_extension() -> None:
    play = peer_with_clients()
    stamp = Timestamp(5, zid_of("z"))
    put_body = Put(b"v", attachment=b"att")
    extension = Extension(0x09)
    message = Push(WireExpr(0, "k"), put_body, QoS(0x12), stamp, 3, extensions=(extension,))
    play.sends("c1", subscriber(1, "k"))
    play.sends("app", message, reliable=False)
    ((copy, key, reliable),) = play.outlets["c1"].messages
    assert (key, reliable) == ("k", False)
    assert copy == Push(WireExpr(0, "k"), put_body, QoS(0x12), stamp, extensions=(extension,))
    play.clear_received()
    play.sends("c2", subscriber(1, "k"))
    play.sends("app", message)
    (copy,) = play.received("c1")
    assert copy == Push(WireExpr(0, "k"), put_body, QoS(0x12), extensions=(extension,))


def test_the_application_gets_the_message_as_it_came() -> None:
    play = peer_with_clients()
    play.sends("app", subscriber(1, "a/**"))
    play.sends("c1", alias(1, "a"))
    message = put(WireExpr(1, "/b"))
    play.sends("c1", message, reliable=False)
    ((got, key, reliable),) = play.outlets["app"].messages
    assert got is message
    assert (key, reliable) == ("a/b", False)


def test_invalid_keys_and_unknown_aliases_are_dropped_and_counted() -> None:
    play = peer_with_clients()
    play.sends("c2", subscriber(1, "**"))
    play.sends("c1", put("a//b"), put(""), put("a/$*"), put(WireExpr(9, "/a")))
    play.sends("c1", put(WireExpr(9, "/a", sender=False)), put("k" * 5000))
    play.nothing_received()
    assert play.dispatcher.counters.invalid_keys == 4
    assert play.dispatcher.counters.unknown_aliases == 2


def test_publications_that_share_a_key_object_take_the_same_route() -> None:
    """Messages decoded as a run share their key object (wire/runs.py)."""
    play = peer_with_clients()
    play.sends("app", subscriber(1, "k"))
    shared, bad, unknown = WireExpr(0, "k"), WireExpr(0, "a//b"), WireExpr(9, "")
    play.sends("c1", put(shared, "1"), put(shared, "2"), put("k", "3"), put(shared, "4"))
    play.receives("app", "PUT 1 k", "PUT 2 k", "PUT 3 k", "PUT 4 k")
    play.sends("c2", subscriber(1, "k"))
    play.sends("c1", put(shared, "1"), put(shared, "2"), *[put(bad)] * 3, *[put(unknown)] * 4)
    for name in ("app", "c2"):
        play.receives(name, "PUT 1 k", "PUT 2 k")
    assert play.dispatcher.counters.invalid_keys == 3
    assert play.dispatcher.counters.unknown_aliases == 4


def test_the_cache_of_routes_is_bounded() -> None:
    play = peer_with_clients()
    play.sends("c1", subscriber(1, "nothing"))
    for number in range(CACHED_ROUTES_MAX + 10):
        play.sends("app", put(f"k/{number}"))
    assert 0 < len(play.faces["app"].origin.routes) <= CACHED_ROUTES_MAX


class TestMulticast:
    def test_every_forwarded_publication_goes_to_the_group(self) -> None:
        play = peer_with_clients()
        play.sends("app", subscriber(1, "s/**"))
        play.connects("g", "peer", group=True)
        play.receives("g", "D_SUB 0 s/**")
        play.sends("app", subscriber(2, "s2"), token(3, "t"))
        play.receives("g", "D_SUB 0 s2")
        play.sends("app", put("any", "1"))
        play.sends("c1", put("any", "2"))
        play.receives("g", "PUT 1 any", "PUT 2 any")

    def test_a_publication_from_a_group_is_not_sent_to_gateways(self) -> None:
        play = peer_with_clients()
        play.connects("g", "peer", group=True)
        play.connects("g2", "peer", group=True)
        play.connects("p", "peer")
        play.joins_group("m", "g")
        play.sends("p", subscriber(1, "**"), final(0))
        play.sends("app", subscriber(1, "s/**"))
        play.clear_received()
        play.sends("m", put("s/a"), put("t"))
        play.receives("app", "PUT x s/a")
        play.nothing_received()

    def test_members_need_not_declare_what_they_have(self) -> None:
        play = peer_with_clients()
        play.connects("g", "peer", group=True)
        play.joins_group("m", "g")
        play.sends("m", subscriber(0, "a"), subscriber(0, "b"), queryable(0, "q"))
        play.leaves_group("m")
        play.disconnects("g")
        play.nothing_received()
        assert play.dispatcher.counters.unexpected_messages == 3

    def test_each_member_has_its_own_aliases(self) -> None:
        play = peer_with_clients()
        play.connects("g", "peer", group=True)
        play.sends("app", subscriber(1, "**"))
        play.clear_received()
        for member in ("m1", "m2"):
            play.joins_group(member, "g")
            play.sends(member, alias(1, f"of/{member}"))
        for member in ("m1", "m2"):
            play.sends(member, put(WireExpr(1, ""), member), put(WireExpr(1, "/x"), member))
        play.receives("app", "PUT m1 of/m1", "PUT m1 of/m1/x", "PUT m2 of/m2", "PUT m2 of/m2/x")
        play.leaves_group("m1")
        play.sends("m2", no_alias(1), put(WireExpr(1, "")))
        play.nothing_received()
        assert play.dispatcher.counters.unknown_aliases == 1

    def test_tokens_of_members_end_with_them(self) -> None:
        play = peer_with_clients()
        play.connects("g", "peer", group=True)
        play.connects("p", "peer")
        play.joins_group("m1", "g")
        play.joins_group("m2", "g")
        play.sends("app", interest(1, "future", "T", "t/**"))
        play.clear_received()
        # Both start at the same id; a declaration that answers another node is not announced.
        play.sends("m1", token(4, "t/1"), token(0, "t/0", answer_to=9))
        play.sends("m2", token(4, "t/2"), token(5, "t/both"))
        play.sends("m1", token(5, "t/both"))
        play.receives("app", "D_TOKEN 1 t/1", "D_TOKEN 2 t/2", "D_TOKEN 3 t/both")
        play.sends("m2", no_token(4))
        play.receives("app", "U_TOKEN 2")
        play.leaves_group("m1")
        play.receives("app", "U_TOKEN 1")
        play.leaves_group("m2")
        play.receives("app", "U_TOKEN 3")
        play.nothing_received()


class TestTimestamping:
    def play(self, **settings: bool) -> Play:
        play = Play("peer", timestamping=True, wall_ns=lambda: WALL_NS, **settings)
        play.connects("app")
        play.connects("c1", "client")
        play.sends("c1", subscriber(1, "k"))
        return play

    def sent(self, play: Play, body: Put | Del) -> list[Put | Del]:
        play.sends("app", Push(WireExpr(0, "k"), body))
        return [message.body for message in play.received("c1") if isinstance(message, Push)]

    def test_a_put_without_timestamp_gets_one(self) -> None:
        play = self.play()
        first, second = self.sent(play, Put(b"1")) + self.sent(play, Put(b"2", attachment=b"a"))
        assert first.timestamp is not None
        assert second.timestamp is not None
        assert first.timestamp < second.timestamp
        assert first.timestamp.id == OWN_ZID
        assert first.timestamp.time == ntp64_of_ns(WALL_NS) & ~0xF
        assert second == Put(b"2", second.timestamp, attachment=b"a")

    def test_a_delete_is_untouched(self) -> None:
        assert self.sent(self.play(), Del()) == [Del()]

    def test_a_timestamp_of_the_past_is_kept(self) -> None:
        stamp = Timestamp(ntp64_of_ns(WALL_NS) - 5, zid_of("z"))
        assert self.sent(self.play(), Put(b"", stamp)) == [Put(b"", stamp)]

    def test_a_timestamp_of_the_far_future_is_replaced_or_dropped(self) -> None:
        stamp = Timestamp(ntp64_of_ns(WALL_NS) + FUTURE_NTP64_MAX + 1, zid_of("z"))
        (replaced,) = self.sent(self.play(), Put(b"", stamp))
        assert replaced.timestamp is not None
        assert replaced.timestamp.id == OWN_ZID
        assert self.sent(self.play(drop_future_timestamp=True), Put(b"", stamp)) == []

    def test_a_publication_without_receivers_gets_no_timestamp(self) -> None:
        play = self.play()
        play.sends("app", put("elsewhere"))
        assert play.dispatcher.hlc is not None
        assert play.dispatcher.hlc.last == 0
