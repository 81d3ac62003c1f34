"""Faults of scouting and of multicast groups."""

from __future__ import annotations

from tests.rules.faults.fault import fault
from tests.rules.group import Group, hello, scout
from tests.rules.legal_session import QUERY
from tests.rules.packet_recorder import SECOND, Recorder
from zenlake.wire import JoinQoS, KeepAlive, LaneSn, Push, Put, Query, Request
from zenlake.wire.values.resolution import Resolution
from zenlake.wire.values.whatami import WhatAmI, WhatAmIMatcher
from zenlake.wire.values.wire_expr import WireExpr


@fault("scout-nobody", where="scouting")
def a_scout_for_nobody(recorder: Recorder) -> int:
    return scout(recorder, WhatAmIMatcher(0))


@fault("scouting-version", where="scouting")
def a_scout_of_an_older_version(recorder: Recorder) -> int:
    return scout(recorder, version=8)


@fault("hello-not-asked", where="scouting")
def a_peer_that_nobody_looks_for(recorder: Recorder) -> int:
    scout(recorder, WhatAmIMatcher(1))
    return hello(recorder, WhatAmI.PEER)


@fault("hello-without-locators", where="scouting")
def a_hello_without_locators(recorder: Recorder) -> int:
    scout(recorder)
    return hello(recorder, locators=None)


@fault("join-client", where="group")
def a_client_that_joins(group: Group) -> int:
    return group.join(2, whatami=WhatAmI.CLIENT)


@fault("join-changed", where="group")
def a_member_that_changes_its_lease(group: Group) -> int:
    return group.join(0, lease=7)


@fault("join-late", where="group")
def a_join_after_the_lease(group: Group) -> int:
    group.join(0)
    group.recorder.wait(12 * SECOND)
    return group.join(0)


@fault("join-sn-outside", where="group")
def a_number_beyond_the_resolution(group: Group) -> int:
    return group.join(2, next_sn_re=group.mask + 1)


@fault("join-sn-backwards", where="group")
def a_number_before_the_last(group: Group) -> int:
    for _ in range(9):
        group.put(0)
    group.join(0)
    return group.join(0, next_sn_re=(group.sns[0] - 5) & group.mask)


@fault("join-numbers-twice", where="group")
def numbers_in_both_places(group: Group) -> int:
    lanes = tuple(LaneSn(1, 2) for _ in range(8))
    return group.join(2, qos=JoinQoS(lanes))


@fault("join-terms-differ", where="group")
def a_member_with_smaller_batches(group: Group) -> int:
    return group.join(2, batch_size=2_048, resolution=group.resolution or Resolution())


@fault("group-kind", where="group")
def a_query_to_a_group(group: Group) -> int:
    request = Request(1, WireExpr(0, "a/b"), Query(), qos=QUERY, timeout_ms=1_000)
    return group.send(0, request)


@fault("group-keep-alive", where="group")
def a_keep_alive_to_a_group(group: Group) -> int:
    return group.send_bytes(0, bytes(KeepAlive()))


@fault("group-batch-large", where="group")
def a_datagram_larger_than_join_says(group: Group) -> int:
    return group.put(0, size=9_000)


@fault("alias-in-group", where="group")
def a_number_in_a_group(group: Group) -> int:
    return group.send(0, Push(WireExpr(7, "/x"), Put(b"v")))
