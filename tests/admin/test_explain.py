"""`zenlake/explain`: the explanation of a route through the admin space."""

from __future__ import annotations

from typing import Any

import pytest

from tests.admin.admin_play import AdminPlay
from tests.routing.playbook import queryable, subscriber, zid_of
from zenlake.wire import Err, Response, ResponseFinal

C1, C2, P1 = (str(zid_of(name)) for name in ("c1", "c2", "p1"))


@pytest.fixture
def play() -> AdminPlay:
    play = AdminPlay("router")
    for name, role in (("c1", "client"), ("c2", "client"), ("p1", "peer")):
        play.connects(name, role)
    play.sends("c1", subscriber(1, "demo/**"), queryable(2, "ask", complete=True))
    play.sends("p1", subscriber(1, "demo/a;b"))
    play.clear_received()
    return play


def explain(play: AdminPlay, name: str, parameters: str) -> Any:
    key = f"{play.root}/zenlake/explain"
    return play.get(name, f"{key}?{parameters}")[key].json


def failure(play: AdminPlay, parameters: str) -> str:
    play.asks("c2", f"{play.root}/zenlake/explain?{parameters}")
    error, last = play.received("c2")
    assert isinstance(error, Response)
    assert isinstance(error.body, Err)
    assert isinstance(last, ResponseFinal)
    return error.body.payload.decode()


def test_publication_is_explained_from_the_requester_by_default(play: AdminPlay) -> None:
    shown = explain(play, "c2", "key=demo/a")
    client = {"whatami": "client", "region": "south:0:client"}
    assert shown == {
        "node": {"zid": str(play.dispatcher.zid), "whatami": "router"},
        "kind": "publication",
        "key": "demo/a",
        "target": None,
        "source": {"zid": C2, **client},
        "root": str(play.dispatcher.zid),
        "sent_to": [{"zid": C1, **client}],
        "source_drops": {},
        "refusals": {},
        "counts": {"sent": 1},
        "decisions": [
            {
                "verdict": "sent",
                "holder": {"zid": C1, **client},
                "declared": "demo/**",
                "complete": False,
                "hop": {"zid": C1, **client},
            }
        ],
    }


def test_a_destination_shows_the_state_of_its_link(play: AdminPlay) -> None:
    play.facts.names = ["c1"]
    (destination,) = explain(play, "c2", "key=demo/a")["sent_to"]
    assert destination["queued_bytes"] == 5
    assert destination["dropped_messages"] == 7
    assert destination["drops"] == {"dropped_messages": 7}
    assert destination["round_trip_us"] is None


def test_losses_in_a_group_are_shown() -> None:
    play = AdminPlay("peer")
    play.connects("c2", "client")
    play.connects("group", "peer", group=True)
    face = play.faces["group"]
    play.facts.drops[face] = {"dropped_datagrams": 3}
    (destination,) = explain(play, "c2", "key=demo/a")["sent_to"]
    assert destination["zid"] == "group"
    assert destination["drops"] == {"dropped_datagrams": 3}
    assert "queued_bytes" not in destination


def test_losses_between_source_and_node_are_shown(play: AdminPlay) -> None:
    play.facts.names = ["c2"]
    play.dispatcher.tables.counters.refused_declarations = 3
    play.dispatcher.tables.counters.refused_requests = 4
    shown = explain(play, "c2", "key=demo/a")
    assert shown["source_drops"] == {"stale_frames": 2}
    assert shown["refusals"] == {"refused_declarations": 3}
    refusals = explain(play, "c2", "key=ask;query=true")["refusals"]
    assert refusals == {"refused_declarations": 3, "refused_requests": 4}


def test_publication_is_explained_from_another_neighbour(play: AdminPlay) -> None:
    shown = explain(play, "c2", f"key=demo/a;from={C1}")
    assert shown["source"]["zid"] == C1
    assert shown["sent_to"] == []
    assert shown["counts"] == {"is_source": 1}


def test_publication_is_explained_from_the_node_itself(play: AdminPlay) -> None:
    shown = explain(play, "c2", f"key=demo/a;from={play.dispatcher.zid}")
    assert shown["source"] == {
        "zid": str(play.dispatcher.zid),
        "whatami": "router",
        "region": "local",
    }
    assert [face["zid"] for face in shown["sent_to"]] == [C1]


def test_query_is_explained_with_its_target(play: AdminPlay) -> None:
    shown = explain(play, "c2", "key=ask;query=true;target=all_complete")
    assert shown["kind"] == "query"
    assert shown["target"] == "all_complete"
    assert shown["decisions"][0]["complete"] is True
    assert explain(play, "c2", "key=ask;query=true")["target"] == "best_matching"


def test_a_key_that_parameters_cannot_hold_is_percent_encoded(play: AdminPlay) -> None:
    shown = explain(play, "c2", "key=demo/a%3Bb")
    assert shown["key"] == "demo/a;b"
    assert {one["declared"] for one in shown["decisions"]} == {"demo/**", "demo/a;b"}


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ("key=a//b", "a chunk is empty"),
        ("key=", "empty"),
        ("key=a;from=ff", "this node has no session with ff"),
        ("key=a;from=xyz", "'xyz' is not a ZenohId"),
        ("key=a;root=xyz", "'xyz' is not a ZenohId"),
        ("key=a;target=some", "target is one of best_matching, all, all_complete"),
    ],
)
def test_invalid_parameters_are_answered_with_an_error(
    play: AdminPlay, parameters: str, words: str
) -> None:
    assert words in failure(play, parameters)


def test_without_a_key_there_is_no_answer(play: AdminPlay) -> None:
    assert not any(key.endswith("explain") for key in play.get("c2", "@/**"))
