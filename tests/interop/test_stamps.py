"""Timestamp stacks of our nodes and of real ones list the same points in the same order."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

import zenlake
from tests.ports import free_endpoint
from tests.sessions import config_of, open_client
from tests.waiting import until

zenoh = pytest.importorskip("zenoh", reason="eclipse-zenoh has no wheel for this Python")
pytestmark = pytest.mark.real

ONE_WAY = ["SEND a", "ROUTE a", "ROUTE r", "ROUTE b", "RECEIVE b"]
BACK = ["SEND b", "ROUTE b", "ROUTE r", "ROUTE a", "RECEIVE a"]


def path_of(stack: Any, names: dict[str, str]) -> list[str]:
    return [
        f"{str(record.point).rpartition('.')[2]} {names[str(record.timestamp().get_id())]}"
        for record in stack.records
    ]


@pytest.mark.parametrize(
    ("asking", "middle", "answering"),
    [
        (zenlake, zenlake, zenlake),
        (zenlake, zenoh, zenoh),
        (zenoh, zenlake, zenoh),
        (zenoh, zenoh, zenlake),
        (zenoh, zenoh, zenoh),
    ],
    ids=lambda package: package.__name__,
)
def test_every_node_on_the_path_is_recorded(
    asking: ModuleType, middle: ModuleType, answering: ModuleType
) -> None:
    endpoint = free_endpoint()
    builder = asking.TimestampInstrumentationBuilder().set_send(True)
    points = builder.set_route(True).set_receive(True).build()
    with (
        middle.open(config_of("peer", middle, listen__endpoints=[endpoint])) as r,
        open_client(endpoint, asking) as a,
        open_client(endpoint, answering) as b,
    ):
        names = {str(r.zid()): "r", str(a.zid()): "a", str(b.zid()): "b"}
        subscriber = b.declare_subscriber("k")
        queryable = b.declare_queryable("q")
        publisher = a.declare_publisher("k")
        querier = a.declare_querier("q")
        until(lambda: publisher.matching_status.matching and querier.matching_status.matching, 10)
        publisher.put(b"", timestamp_instrumentation=points)
        assert path_of(subscriber.recv().timestamp_stack, names) == ONE_WAY
        replies = querier.get(timestamp_instrumentation=points)
        with queryable.recv() as query:
            assert path_of(query.timestamp_stack, names) == ONE_WAY
            query.reply("q", b"")
            query.reply_err(b"")
        found = [(reply.ok or reply.err).timestamp_stack for reply in replies]
        assert [path_of(stack, names) for stack in found] == [ONE_WAY + BACK] * 2
