"""zenlake router explain: across routers, as text and as JSON."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from tests.cli.command import assert_refused
from tests.sessions import open_client
from tests.waiting import until
from tests.zenlake_process import RouterProcess, run_zenlake
from zenlake.cli.router_explain_losses import LOST_INWARD, LOST_OUTWARD, REFUSED
from zenlake.cli.router_explain_text import text_of
from zenlake.node.stats import NO_LOSSES
from zenlake.routing.counters import Counters


def explain(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_zenlake("router", "explain", *arguments)


def test_a_publication_that_nobody_receives() -> None:
    with RouterProcess("-i", "a1") as process:
        result = explain("demo/a", "-e", process.endpoint)
    assert result.returncode == 1
    assert result.stdout == (
        "A publication on `demo/a` comes to router a1 from this command, as a client.\n"
        "It goes nowhere: this node knows of no subscriber that matches the key.\n"
        "\n"
        "Nobody gets it.\n"
    )


def test_a_publication_goes_to_a_client_of_the_same_router() -> None:
    with RouterProcess("-i", "a1") as process, open_client(process.endpoint, id="c1") as client:
        subscriber = client.declare_subscriber("demo/**")
        until(lambda: "c1" in explain("demo/a", "-e", process.endpoint).stdout)
        answer = json.loads(explain("demo/a", "-e", process.endpoint, "--json").stdout)
        assert [one["zid"] for one in answer["sent_to"]] == ["c1"]
        result = explain("demo/a", "-e", process.endpoint, "--from", "c1")
        assert result.returncode == 1
        assert (
            "  client c1 with a subscriber on `demo/**`: it is where it came from."
            in result.stdout.splitlines()
        )
        subscriber.undeclare()


def test_a_query_across_two_routers() -> None:
    with (
        RouterProcess("-i", "a1") as first,
        RouterProcess("-i", "b2", "-e", first.endpoint) as second,
        open_client(first.endpoint, id="c1") as near,
        open_client(second.endpoint, id="c2") as far,
    ):
        asked = [near.declare_queryable("ask/**"), far.declare_queryable("ask/*", complete=True)]
        question = ("ask/x", "--query", "-e", first.endpoint)
        until(lambda: "client c2" in explain(*question).stdout)
        rule = "in each region to the nearest complete queryable or, without one, to all"
        result = explain(*question)
        assert result.returncode == 0
        assert result.stdout.splitlines() == [
            "A query (target best matching) on `ask/x` comes to router a1 from this command, as a"
            " client.",
            "Between routers it follows the tree of router a1.",
            f"It goes to 2 neighbours, {rule}:",
            "  client c1, because it has declared a queryable on `ask/**`.",
            "  router b2, because it has declared a complete queryable on `ask/*`.",
            "",
            "Router b2 gets it from router a1.",
            "Between routers it follows the tree of router a1.",
            f"It goes to 1 neighbour, {rule}:",
            "  client c2, because it has declared a complete queryable on `ask/*`.",
            "It does not go to:",
            "  router a1 with a queryable on `ask/**`: it is where it came from.",
        ]
        assert explain(*question, "--from", "c2").stdout.startswith(
            "A query (target best matching) on `ask/x` comes to router b2 from client c2."
        )
        for queryable in asked:
            queryable.undeclare()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["a//b"], "'a//b': a chunk is empty (at character 2)"),
        (["a", "-e", "tcp/127.0.0.1:1"], "no router at tcp/127.0.0.1:1"),
        (["a", "-e", "nonsense"], "expected an endpoint"),
        (["a", "--target", "some"], "invalid choice: 'some'"),
        ([], "the following arguments are required: KEY"),
    ],
)
def test_a_wrong_call_gets_one_line_and_code_2(arguments: list[str], complaint: str) -> None:
    assert_refused(explain(*arguments), complaint)


def test_unknown_source_is_an_error() -> None:
    with RouterProcess("-i", "a1") as process:
        result = explain("a", "-e", process.endpoint, "--from", "ff")
    assert result.returncode == 2
    assert "has a session with ff" in result.stderr


def node(zid: str, whatami: str = "client") -> dict[str, Any]:
    regions = {"client": "south:0:client", "peer": "south:0:peer", "router": "north"}
    return {"zid": zid, "whatami": whatami, "region": regions[whatami]}


def step(**more: Any) -> dict[str, Any]:
    return {
        "node": {"zid": "a1", "whatami": "router"},
        "kind": "publication",
        "key": "k",
        "target": None,
        "source": node("c1"),
        "root": "a1",
        "sent_to": [],
        "counts": {},
        "decisions": [],
        **more,
    }


def decision(verdict: str, holder: dict[str, Any], **more: Any) -> dict[str, Any]:
    hop = holder if verdict in ("sent", "unknown") else None
    return {
        "verdict": verdict,
        "holder": holder,
        "declared": "k/**",
        "complete": False,
        "hop": hop,
        **more,
    }


def test_text_describes_a_route_through_another_router() -> None:
    far = decision("sent", node("d4", "router"), hop=node("b2", "router"))
    first = step(sent_to=[node("b2", "router")], counts={"sent": 1}, decisions=[far])
    silent = {
        "node": {"zid": "b2"},
        "error": "it gives no explanation",
        "declared": {"k/**": ["c9"], "k": []},
    }
    assert text_of([first, silent]).splitlines() == [
        "A publication on `k` comes to router a1 from client c1.",
        "Between routers it follows the tree of router a1.",
        "It goes to 1 neighbour:",
        "  router b2, because router d4 has declared a subscriber on `k/**` and this is the way"
        " there.",
        "",
        "Router b2 cannot be queried further: it gives no explanation.",
        "  It knows of `k/**`, declared by c9.",
        "  It knows of `k`, declared by other routers.",
    ]


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("same_region", "both peers of this router, which does not pass on between peers"),
        ("no_way", "the tree does not lead there"),
        ("other_gateway", "another gateway of the peer, with a greater id, carries its messages"),
        ("not_complete", "only complete queryables are asked"),
        ("other_is_best", "a complete queryable of the same region is asked"),
        ("is_source", "the way there leads back to where it came from, so others deliver it"),
    ],
)
def test_text_describes_each_obstacle(verdict: str, words: str) -> None:
    shown = step(counts={verdict: 1}, decisions=[decision(verdict, node("p1", "peer"))])
    text = text_of([shown])
    assert words in text
    assert "It goes nowhere, although this node knows of a subscriber that matches." in text
    assert text.endswith("Nobody gets it.")


def test_text_for_neighbours_that_have_sent_no_declarations() -> None:
    group = {"zid": "group", "whatami": "peer", "region": "north"}
    above = node("b2", "router")
    decisions = [decision("unknown", group, declared=""), decision("unknown", above, declared="")]
    text = text_of([step(sent_to=[group, above], counts={"unknown": 2}, decisions=decisions)])
    assert "a multicast group, because everything that leaves this node goes" in text
    assert "router b2, because it has not sent its declarations for this key yet." in text


def test_congested_link_is_shown() -> None:
    drops = {"dropped_messages": 1234, "dropped_datagrams": 1, "a_new_cause": 2}
    trouble = {**node("c2"), "queued_bytes": 12345, "drops": drops}
    decisions = [decision("sent", node("c2"))]
    text = text_of([step(sent_to=[trouble], counts={"sent": 1}, decisions=decisions)])
    assert text.splitlines()[2:] == [
        "  client c2, because it has declared a subscriber on `k/**`.",
        "    But: 12,345 bytes wait for its link.",
        "    Lost since it connected: 1,234 messages for it dropped: its queue was full; "
        "1 datagram for it refused by the system; 2 a_new_cause.",
    ]
    quiet = {**trouble, "queued_bytes": 0, "drops": {}}
    text = text_of([step(sent_to=[quiet], counts={"sent": 1}, decisions=decisions)])
    assert len(text.splitlines()) == 3


def test_losses_before_routing_and_refusals_are_shown() -> None:
    refusals = {"refused_declarations": 2, "refused_requests": 1}
    text = text_of([step(source_drops={"stale_frames": 3}, refusals=refusals)])
    assert text.splitlines() == [
        "A publication on `k` comes to router a1 from client c1.",
        "Lost from there since it connected: 3 frames dropped: late or repeated.",
        "It goes nowhere: this node knows of no subscriber that matches the key.",
        "Refused by this node since it started, on any key: 2 declarations beyond its limits; "
        "1 query beyond its limits.",
        "",
        "Nobody gets it.",
    ]


def test_every_counted_loss_has_a_description() -> None:
    losses = {*LOST_OUTWARD, *LOST_INWARD}
    assert losses == set(NO_LOSSES) - {"unsent_bytes"}  # which only an ended transport has
    assert set(REFUSED) <= set(Counters().as_dict())


def test_many_neighbours_are_counted() -> None:
    many = [node(f"c{number}") for number in range(30)]
    decisions = [decision("sent", one) for one in many]
    lines = text_of([step(sent_to=many, counts={"sent": 30}, decisions=decisions)]).splitlines()
    assert lines[1] == "It goes to 30 neighbours:"
    assert lines[-1] == "  and 10 more"


def test_control_characters_of_other_nodes_are_escaped() -> None:
    shown = decision("sent", node("c2"), declared="\x1b[2J")
    text = text_of([step(sent_to=[node("c2")], counts={"sent": 1}, decisions=[shown])])
    assert "\x1b" not in text
    assert "\\x1b[2J" in text


def test_a_verbatim_chunk_is_mentioned() -> None:
    assert "wildcards do not match a chunk that begins with @" in text_of([step(key="a/@b")])
