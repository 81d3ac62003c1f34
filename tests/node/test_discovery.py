"""Nodes that find each other by multicast: scouting, and groups that need no connection."""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.node.application import BLOCK, Application, opened, settings_of
from tests.waiting import until
from zenlake.errors import ZenlakeError
from zenlake.links.multicast import multicast_interfaces
from zenlake.node import Node, NodeSettings
from zenlake.node.scouting import scout
from zenlake.protocol.scouting import ScoutedNode
from zenlake.wire import EndPoint, Interest, InterestMode, Push, WhatAmI, WireExpr

pytestmark = pytest.mark.skipif(
    not multicast_interfaces("auto"), reason="no interface for multicast"
)


@pytest.fixture
def group() -> str:
    """A group of this test's own, so that other nodes on the machine are not found."""
    return f"224.0.0.{random.randint(225, 250)}:{random.randint(20_000, 60_000)}"


def scouting_settings(group: str, role: WhatAmI = WhatAmI.PEER) -> NodeSettings:
    settings = settings_of(role, listen=[] if role == WhatAmI.CLIENT else ["tcp/0.0.0.0:0"])
    settings.multicast_enabled = True
    settings.multicast_address = group
    settings.scouting_timeout_s = 1.0
    return settings


def test_peers_find_each_other(group: str) -> None:
    with opened(scouting_settings(group), scouting_settings(group)) as (one, other):
        until(lambda: other.zid in one.runners and one.zid in other.runners)
        assert len(one.runners) == len(other.runners) == 1


def test_open_returns_as_soon_as_a_peer_has_answered(group: str) -> None:
    second = scouting_settings(group)
    second.scouting_delay_s = 20.0
    with opened(scouting_settings(group)) as [one]:
        began = time.monotonic()
        with opened(second) as [other]:
            assert time.monotonic() - began < 10
            assert list(other.runners) == [one.zid]


def test_open_waits_the_whole_delay_if_no_node_answers(group: str) -> None:
    began = time.monotonic()
    with opened(scouting_settings(group)):
        assert time.monotonic() - began >= 0.5


def test_a_router_waits_the_whole_delay_even_if_nodes_answer() -> None:
    settings = settings_of(WhatAmI.ROUTER)
    settings.scouting_delay_s = 0.2
    began = time.monotonic()
    with opened(settings):
        assert time.monotonic() - began >= 0.2


def test_open_does_not_wait_if_configured_so(group: str) -> None:
    settings = scouting_settings(group)
    settings.scouting_delay_s = 20.0
    settings.waits_for_scouted = False
    began = time.monotonic()
    with opened(settings):
        assert time.monotonic() - began < 10


def test_a_client_finds_a_peer_and_finds_another_when_it_is_lost(group: str) -> None:
    with opened(scouting_settings(group)) as [first]:
        client = Node(scouting_settings(group, WhatAmI.CLIENT))
        client.settings.connect_retry.first_s = 0.05
        client.open()
        assert list(client.runners) == [first.zid]
    try:
        with opened(scouting_settings(group)) as [second]:
            until(lambda: list(client.runners) == [second.zid], 8.0)
    finally:
        client.close()


def test_a_client_that_finds_no_node_raises(group: str) -> None:
    settings = scouting_settings(group, WhatAmI.CLIENT)
    assert settings_of().scouting_timeout_s == 3
    settings.scouting_timeout_s = 0.3
    began = time.monotonic()
    with pytest.raises(ZenlakeError, match="Unable to connect"):
        Node(settings).open()
    assert 0.3 <= time.monotonic() - began < 3


def test_scout_needs_no_node(group: str) -> None:
    found: list[ScoutedNode] = []
    with opened(scouting_settings(group)) as [node]:
        scouting = scout(scouting_settings(group), int(WhatAmI.PEER), found.append)
        until(lambda: bool(found))
        scouting.close()
        scouting.join(1.0)
        assert found[0].zid == node.zid
        assert list(found[0].locators) == node.locators()


def test_a_group_needs_no_connection(group: str) -> None:
    endpoint = f"udp/{group}"
    members = [settings_of(listen=[endpoint]) for _ in range(3)]
    for settings in members:
        settings.group_join_interval_s = 0.1
    with opened(*members) as nodes:
        until(lambda: all(len(node.transports()) == 2 for node in nodes))
        assert all(info.is_multicast for info in nodes[0].transports())
        assert nodes[0].links()[0].group == endpoint
        applications = [Application(node) for node in nodes]
        for application in applications[1:]:
            application.subscribe("shared/**")
        applications[0].put("shared/key", b"to all", BLOCK)
        applications[0].put("shared/long", bytes(50_000), BLOCK)
        for application in applications[1:]:
            assert application.wait_for(2) == [b"to all", bytes(50_000)]
        nodes[2].close()
        until(lambda: len(nodes[0].transports()) == 1)


# What two peers of zenoh-pico 1.9.0 sent to a group: JOIN, D_KEYEXPR and PUSH with that number;
# of the second also D_KEYEXPR and D_TOKEN. What else came between is left out, and the sequence
# numbers follow. Built with Z_FEATURE_MULTICAST_DECLARATIONS both number their keys from 1 on.
PICO_B = (
    "a709f1f1f1bf57081f2825bd248e22bcaa1ac10a02002701",
    "25021e2001000b64656d6f2f66726f6d2f62",
    "25035d0101010b",
)
PICO_C = (
    "a709f18a1dd6b4d50472fffda758cb78f691450a02002701",
    "25021e2001000b64656d6f2f66726f6d2f63",
    "25035d0101010c",
    "25041e20020005746f6b2f63",
    "25051e460402",
)


def test_members_may_have_aliases_and_tokens(group: str) -> None:
    host, _, port = group.partition(":")
    settings = settings_of(listen=[f"udp/{group}"])
    watching = Interest(InterestMode.FUTURE, 1, tokens=True, key=WireExpr(0, "tok/**"))
    with opened(settings) as [node], pico_socket() as b, pico_socket() as c:
        application = Application(node)
        application.subscribe("demo/**")
        application.send_to_node(watching)
        for sender, lines in ((b, PICO_B), (c, PICO_C)):
            for line in lines:
                sender.sendto(bytes.fromhex(line), (host, int(port)))
        until(lambda: "DeclareToken" in application.declared())
        assert application.wait_for(2) == [b"\x0b", b"\x0c"]
        keys = [key for key, message in application.got if isinstance(message, Push)]
        assert keys == ["demo/from/b", "demo/from/c"]
        c.sendto(bytes.fromhex("2300"), (host, int(port)))  # CLOSE
        until(lambda: "UndeclareToken" in application.declared())


@contextmanager
def pico_socket() -> Iterator[socket.socket]:
    address = multicast_interfaces("auto")[0].address
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.bind((address, 0))
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(address))
        yield sender


def test_a_client_joins_no_group(group: str) -> None:
    settings = settings_of(WhatAmI.CLIENT, listen=[f"udp/{group}"])
    settings.connect = [EndPoint.parse("tcp/127.0.0.1:1")]
    with pytest.raises(ZenlakeError, match="client cannot be in a multicast group"):
        Node(settings).open()
