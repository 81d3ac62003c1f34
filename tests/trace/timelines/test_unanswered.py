"""Why a query has no reply, from the declarations that nodes sent to each other."""

from __future__ import annotations

from typing import Any

import pytest

from zenlake.limits import QUERYABLES_COMPARED_MAX, QUERYABLES_MAX
from zenlake.trace.timelines.queryables import Queryable, Queryables
from zenlake.trace.timelines.unanswered import Hop, Unanswered, explain, link_hops, reason

ASKER, ROUTER, SERVER, FAR = "c1", "a1", "b1", "a2"


def network(*declared: Queryable, **limits: int) -> Queryables:
    """Two clients at a router, and another router behind it."""
    made = Queryables(**limits)
    for zid, role in ((ASKER, "client"), (SERVER, "client"), (FAR, "router")):
        made.connect(zid, role, ROUTER)
        made.connect(ROUTER, "router", zid)
    for one in declared:
        made.add(one)
    return made


def queryable(
    sender: str, receiver: str, key: str, declared: int = 0, ended: int | None = None
) -> Any:
    return Queryable(sender, receiver, key, declared, ended, None if ended is None else "undeclare")


def hop(requester: str = ASKER, responder: str = ROUTER, at: int = 100, **changes: Any) -> Hop:
    made = Hop(f"{requester}-{responder}", at, at, requester, responder, "k/a", "all", at + 5, None)
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def found(known: Queryables, *hops: Hop) -> Unanswered:
    link_hops(list(hops))
    answer = explain(known, hops[0])
    assert answer is not None
    return answer


@pytest.mark.parametrize(
    ("declared", "cause"),
    [
        ([], "no_queryable"),
        ([queryable(SERVER, ROUTER, "other")], "no_queryable"),
        ([queryable(SERVER, ROUTER, "k/*", 10, 50)], "gone"),
        ([queryable(SERVER, ROUTER, "k/*", 10, 50), queryable(SERVER, ROUTER, "k/a", 200)], "gone"),
        ([queryable(SERVER, ROUTER, "k/a", 200)], "not_yet_declared"),
        ([queryable(SERVER, ROUTER, "k/*", 10)], "not_passed_on"),
        ([queryable(ROUTER, ASKER, "k/*", 10)], "no_reply"),
        ([queryable(ASKER, ROUTER, "k/*", 10)], "own_queryable"),
        ([queryable(ASKER, ROUTER, "k/*", 10, 50)], "no_queryable"),
        (
            [queryable(ASKER, ROUTER, "k/*", 10), queryable(SERVER, ROUTER, "k/a", 10)],
            "own_queryable",
        ),
        ([queryable(SERVER, ROUTER, "not//canonical", 10)], "no_queryable"),
    ],
)
def test_unforwarded_query_has_the_expected_cause(declared: list[Queryable], cause: str) -> None:
    assert found(network(*declared), hop()).cause == cause


def test_silent_receiver_of_a_query_is_named() -> None:
    known = network(queryable(SERVER, ROUTER, "k/a"))
    answer = found(known, hop(), hop(ROUTER, SERVER, 101))
    assert (answer.cause, answer.nodes) == ("no_reply", [SERVER])
    assert reason(known, answer, str, str) == "b1 received the query and sent no reply"


def test_queryable_gone_at_a_later_hop_is_not_blamed_as_silent() -> None:
    """The far router had lost it, and the near one had not received the undeclaration."""
    known = network(queryable(FAR, ROUTER, "k/a"), queryable(SERVER, FAR, "k/a", 10, 60))
    answer = found(known, hop(), hop(ROUTER, FAR, 101))
    assert (answer.cause, answer.nodes) == ("gone", [SERVER])
    assert reason(known, answer, str, str) == (
        "it was gone: the queryable k/a of b1 was undeclared 41 before"
    )


def test_node_that_disappeared_during_the_query_is_the_cause() -> None:
    onward = hop(ROUTER, SERVER, 101, final_ns=None, lost_ns=140)
    answer = found(network(queryable(SERVER, ROUTER, "k/a")), hop(), onward)
    assert (answer.cause, answer.nodes) == ("responder_lost", [SERVER])


def test_one_link_or_hidden_traffic_proves_nothing() -> None:
    known = Queryables()
    known.connect(ASKER, "client", ROUTER)
    known.connect(ROUTER, "router", ASKER)
    answer = found(known, hop())
    assert answer.cause == "not_visible"
    assert "only one link of a1" in reason(known, answer, str, str)
    whole = network()
    whole.hidden = "1 session began before the capture"
    answer = found(whole, hop())
    assert answer.cause == "not_visible"
    assert "began before" in reason(whole, answer, str, str)
    assert found(network(), hop(key=None)).cause == "not_visible"


def test_no_cause_is_concluded_above_the_limits() -> None:
    assert QUERYABLES_COMPARED_MAX > QUERYABLES_MAX
    declared = [queryable(SERVER, ROUTER, f"x/{number}") for number in range(3)]
    assert explain(network(*declared, queryables_max=3), hop()) is not None
    assert explain(network(*declared, queryables_max=2), hop()) is None
    matching = [queryable(SERVER, ROUTER, "k/a", ended=10) for _ in range(3)]
    known = network(*matching, compared_max=5)
    assert explain(known, hop()) is not None
    assert explain(known, hop()) is None


@pytest.mark.parametrize(
    ("leaver", "cause"), [("a1", "gone"), ("a2", "not_passed_on"), (None, "not_passed_on")]
)
def test_a_router_behind_goes_shortly_before_the_session_with_the_next(
    leaver: str | None, cause: str
) -> None:
    """Routers a1, a2, a3 in a line: a3 goes, a client queries a1, then a1 and a2 disconnect."""
    made = Queryables()
    made.connect(ASKER, "client", "a1")
    for one, other in (("a1", "a2"), ("a2", "a1"), ("a2", "a3"), ("a3", "a2")):
        made.connect(one, "router", other)
    made.add(Queryable("a3", "a2", "k/a", 10, 50, "session", "a3-a2"))
    made.add(Queryable("a2", "a1", "k/a", 11, 900, "session", "a2-a1", node_id=2))
    if leaver is not None:
        made.leavers["a2-a1"] = leaver
    made.end_with_routers()
    answer = found(made, hop(ASKER, "a1", 100))
    assert answer.cause == cause
    if answer.cause == "gone":
        assert "node a3" in reason(made, answer, lambda zid: f"node {zid}", lambda ns: f"{ns} ns")


def test_a_peer_is_asked_directly_beside_another_with_the_same_queryable() -> None:
    made = Queryables()
    peers = ("p1", "p2", "p3")
    for one in peers:
        for other in peers:
            if one != other:
                made.connect(one, "peer", other)
                if one != "p1":
                    made.add(queryable(one, other, "k/a", 10))
    answer = found(made, hop("p1", "p2"))
    assert (answer.cause, answer.nodes) == ("no_reply", ["p2"])
