"""The admin space of a node with links: long answers, the end of the node, what is logged."""

from __future__ import annotations

import json
import logging
import sys
import threading
import time

import pytest

import zenlake
from tests.api.linked import connected, listening, node_of
from tests.waiting import until

SUBSCRIBERS = 3000


def test_a_long_answer_arrives_whole_over_a_link() -> None:
    with listening(adminspace__enabled=True) as node, connected(node) as client:
        subscribers = [node.declare_subscriber(f"many/{n}") for n in range(SUBSCRIBERS)]
        selector = f"@/{node.zid()}/peer/subscriber/many/*"
        modes = zenlake.ConsolidationMode.NONE, zenlake.ConsolidationMode.LATEST
        for consolidation in modes:
            replies = list(client.get(selector, consolidation=consolidation))
            assert len({str(reply.ok.key_expr) for reply in replies if reply.ok}) == SUBSCRIBERS
            assert len(replies) == SUBSCRIBERS
        assert len(subscribers) == SUBSCRIBERS


def test_without_adminspace_enabled_queries_get_no_answer() -> None:
    with listening() as node, connected(node) as client:
        assert list(client.get("@/*/client/**")) == []
        assert list(client.get("@/*/peer/**")) == []
        assert list(client.get(f"@/{node.zid()}/peer")) == []


def test_closing_a_node_ends_its_long_answers() -> None:
    with listening(adminspace__enabled=True) as node, connected(node) as client:
        subscribers = [node.declare_subscriber(f"many/{n}") for n in range(SUBSCRIBERS)]
        # The answer is not read, so it must wait.
        handler = client.get(
            f"@/{node.zid()}/peer/subscriber/**",
            zenlake.handlers.FifoChannel(1),
            consolidation=zenlake.ConsolidationMode.NONE,
        )
        until(lambda: any("admin answer" in thread.name for thread in threading.enumerate()))
        began = time.monotonic()
        node.close()
        assert time.monotonic() - began < 5
        until(lambda: not any("admin" in thread.name for thread in threading.enumerate()))
        del handler
        assert len(subscribers) == SUBSCRIBERS


def test_sessions_show_their_links_and_regions() -> None:
    metadata = {"place": "lab"}
    with (
        listening(adminspace__enabled=True, metadata=metadata) as node,
        connected(node) as client,
        connected(node, "peer") as peer,
    ):
        until(lambda: len(node_of(node).runners) == 2)
        (reply,) = client.get("@/*/peer")
        assert reply.ok
        root = json.loads(reply.ok.payload.to_bytes())
        sessions = {session["peer"]: session for session in root["sessions"]}
        assert sessions.keys() == {str(client.zid()), str(peer.zid())}
        assert sessions[str(client.zid())]["region"] == "south:0:client"
        assert sessions[str(peer.zid())]["region"] == "north"
        (link,) = client.info.links()
        shown = {"src": str(link.dst), "dst": str(link.src)}
        assert sessions[str(client.zid())]["links"] == [shown]
        assert root["locators"] == node_of(node).locators()
        assert root["metadata"] == {"place": "lab"}


def test_counters_of_a_neighbour_have_its_traffic_by_kind() -> None:
    with listening(adminspace__enabled=True) as node, connected(node) as client:
        samples: list[zenlake.Sample] = []
        subscriber = node.declare_subscriber("demo/**", samples.append)
        for _ in range(100):
            client.put("demo/a", bytes(50), congestion_control=zenlake.CongestionControl.BLOCK)
        until(lambda: len(samples) == 100)
        key = f"@/{node.zid()}/peer/zenlake/face/{client.zid()}"
        (reply,) = client.get(key)
        assert reply.ok
        counters = json.loads(reply.ok.payload.to_bytes())
        subscriber.undeclare()
    assert counters["zid"] == str(client.zid())
    came = counters["in"]
    assert came["by_kind"]["push"]["messages"] == 100
    assert 5000 < came["by_kind"]["push"]["bytes"] < 10_000
    assert came["by_kind"]["request"]["messages"] == 1
    assert sum(kind["messages"] for kind in came["by_kind"].values()) == came["messages"]
    assert sum(kind["bytes"] for kind in came["by_kind"].values()) <= came["bytes"]
    assert counters["open_queries"] == 1
    assert counters["drops"]["dropped_messages"] == 0
    assert counters["region"] == "south:0:client"
    assert counters["round_trip_us"] > 0 or sys.platform != "linux"


def test_refusals_are_logged_without_control_characters(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with listening(adminspace__enabled=True) as node, connected(node) as client:
        with caplog.at_level(logging.WARNING, "zenlake.admin"):
            client.put(f"@/{node.zid()}/peer/config/\x1b[2Jmetadata", "1")
            until(lambda: caplog.records)
        (record,) = caplog.records
        assert "\\x1b[2Jmetadata` is refused: adminspace/permissions/write" in record.getMessage()
