"""Nodes that exchange messages over loopback links."""

from __future__ import annotations

import logging
import socket
import threading
import time

import pytest

from tests.leftovers import own_threads
from tests.node.application import BLOCK, LOOPBACK, Application, opened, settings_of, until_routed
from tests.ports import free_endpoint, free_port
from tests.waiting import holds, until
from zenlake.errors import ZenlakeError
from zenlake.node import Node, NodeSettings
from zenlake.node.info import LinkInfo, TransportInfo
from zenlake.wire import WhatAmI


def talk(one: Node, other: Node) -> None:
    """Exchange a message each way, also with a subscriber declared after the link opened."""
    there, here = Application(one), Application(other)
    there.subscribe("there/**")
    here.subscribe("here")
    until_routed(here, "there/x", there)
    until_routed(there, "here", here)
    for _ in range(3):
        here.put("there/x", b"from other", BLOCK)
        there.put("here", b"from one", BLOCK)
    assert there.wait_for(3) == [b"from other"] * 3
    assert here.wait_for(3) == [b"from one"] * 3


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
@pytest.mark.parametrize("role", [WhatAmI.CLIENT, WhatAmI.PEER])
def test_two_nodes_talk(protocol: str, role: WhatAmI) -> None:
    with opened(settings_of(listen=[f"{protocol}/127.0.0.1:0"])) as [listening]:
        with opened(settings_of(role, listening.locators())) as [connecting]:
            until(lambda: len(listening.runners) == len(connecting.runners) == 1)
            talk(listening, connecting)
            assert connecting.transports() == [
                TransportInfo(listening.zid, WhatAmI.PEER, True, False)
            ]
            (link,) = connecting.links()
            assert link.dst == listening.locators()[0]
            assert listening.links()[0].dst == link.src
        until(lambda: not listening.runners)


def change(settings: NodeSettings, **values: object) -> NodeSettings:
    for name, value in values.items():
        setattr(settings, name, value)
    return settings


@pytest.mark.parametrize(
    "values",
    [
        {"qos": False},
        {"qos": False, "low_latency": True},
        {"compression": True},
        {"batch_size": 100},
        {"batching": False},
        {"lease_ms": 1000, "keep_alive": 10},
    ],
    ids=str,
)
def test_nodes_talk_with_each_transport_option(values: dict[str, object]) -> None:
    with opened(change(settings_of(), **values)) as [one]:
        connecting = change(settings_of(connect=one.locators()), **values)
        with opened(connecting) as [other]:
            until(lambda: len(one.runners) == len(other.runners) == 1)
            talk(one, other)
            quiet_s = 1.2 if "lease_ms" in values else 0.0
            holds(lambda: len(one.runners) == len(other.runners) == 1, quiet_s)


def test_a_long_message_goes_in_fragments() -> None:
    with opened(settings_of()) as [one], opened(settings_of(connect=one.locators())) as [other]:
        receiver, sender = Application(one), Application(other)
        receiver.subscribe("long")
        until_routed(sender, "long", receiver)
        payload = bytes(range(256)) * 40_000
        sender.put("long", payload, BLOCK)
        assert receiver.wait_for(1) == [payload]


def test_only_users_with_the_right_password_connect() -> None:
    users = {"user": "secret"}
    with opened(change(settings_of(), users=users)) as [one]:
        right = change(settings_of(WhatAmI.CLIENT, one.locators()), user="user", password="secret")
        with opened(right):
            until(lambda: len(one.links()) == 1)
            assert one.links()[0].auth_identifier == "user"
        for user, password in (("user", "wrong"), ("nobody", "secret"), (None, None)):
            wrong = change(
                settings_of(WhatAmI.CLIENT, one.locators()), user=user, password=password
            )
            with pytest.raises(ZenlakeError, match="Unable to connect to any of"):
                Node(wrong).open()
        assert one.links() == []


def test_the_error_of_open_names_the_refusing_node_and_the_cause() -> None:
    users = {"user": "secret"}
    with opened(change(settings_of(), users=users)) as [one]:
        [endpoint] = one.locators()
        closed = free_endpoint()
        wrong = change(
            settings_of(WhatAmI.CLIENT, [closed, endpoint]), user="user", password="wrong"
        )
        with pytest.raises(ZenlakeError) as caught:
            Node(wrong).open()
        assert str(caught.value) == (
            f"Unable to connect to any of [{closed}, {endpoint}]! {closed}: Connection refused; "
            f"refused by {endpoint}: authentication: unknown user or wrong password"
        )
        with pytest.raises(ZenlakeError, match=f"refused by {endpoint}: .*demand a user and a"):
            Node(settings_of(WhatAmI.CLIENT, [endpoint])).open()
        strict = change(settings_of(connect=[endpoint]), connect_exit_on_failure=True)
        strict.connect_timeout_s = 1.0
        with pytest.raises(ZenlakeError, match=f"Unable to connect to .*! refused by {endpoint}"):
            Node(strict).open()


@pytest.mark.parametrize("endpoint", ["quic/127.0.0.1:1", "serial//dev/x", "vsock/1:2", "ws/a:1"])
@pytest.mark.parametrize("role", [WhatAmI.PEER, WhatAmI.CLIENT])
def test_links_of_an_unsupported_type_are_refused_by_name(endpoint: str, role: WhatAmI) -> None:
    kind = endpoint.partition("/")[0]
    cause = f"links of type '{kind}' are not supported; supported are tcp, tls, udp"
    for settings in (settings_of(role, connect=[endpoint]), settings_of(role, listen=[endpoint])):
        with pytest.raises(ZenlakeError, match=cause):
            Node(settings).open()


def test_a_client_skips_an_endpoint_of_an_unsupported_type(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with opened(settings_of()) as [one]:
        endpoints = ["quic/127.0.0.1:1", *one.locators()]
        with opened(settings_of(WhatAmI.CLIENT, endpoints)) as [client]:
            assert list(client.runners) == [one.zid]
            assert caplog.text.count("links of type 'quic' are not supported") == 1


def test_a_cause_is_logged_once_and_not_for_every_attempt(caplog: pytest.LogCaptureFixture) -> None:
    endpoint = f"tcp/127.0.0.1:{free_port()}#retry_period_init_ms=10;retry_period_max_ms=10"
    caplog.set_level(logging.DEBUG, "zenlake")
    with opened(settings_of(connect=[endpoint])):
        until(lambda: sum("refused" in one.getMessage() for one in caplog.records) > 3)
    warnings = [one.getMessage() for one in caplog.records if one.levelno == logging.WARNING]
    assert warnings == [f"no connection: {endpoint}: Connection refused"]


def test_a_client_without_any_node_raises() -> None:
    with pytest.raises(ZenlakeError, match="No peer specified and multicast scouting deactivated"):
        Node(settings_of(WhatAmI.CLIENT)).open()
    endpoint = free_endpoint()
    with pytest.raises(ZenlakeError, match="Unable to connect to any of") as caught:
        Node(settings_of(WhatAmI.CLIENT, [endpoint])).open()
    assert endpoint in str(caught.value)


def test_a_client_connects_to_the_first_endpoint_that_works() -> None:
    with opened(settings_of()) as [one]:
        endpoints = [free_endpoint(), *one.locators()]
        with opened(settings_of(WhatAmI.CLIENT, endpoints)) as [client]:
            assert list(client.runners) == [one.zid]


def test_a_peer_opens_although_no_endpoint_can_be_connected() -> None:
    began = time.monotonic()
    with opened(settings_of(connect=[free_endpoint()])):
        assert time.monotonic() - began > 0.4


def test_a_peer_opens_as_soon_as_all_endpoints_are_connected() -> None:
    with opened(settings_of()) as [one]:
        patient = change(settings_of(connect=one.locators()), scouting_delay_s=20.0)
        began = time.monotonic()
        with opened(patient) as [other]:
            assert len(other.runners) == 1
            assert time.monotonic() - began < 10


def test_a_listener_that_cannot_be_bound_is_an_error() -> None:
    with opened(settings_of()) as [one]:
        with pytest.raises(ZenlakeError, match="in use"):
            Node(settings_of(listen=one.locators())).open()
        config = "exit_on_failure=false;retry_period_init_ms=20"
        tolerant = settings_of(listen=[f"{one.locators()[0]}#{config}", LOOPBACK])
        with opened(tolerant) as [other]:
            assert len(other.locators()) == 1
            one.close()
            until(lambda: len(other.locators()) == 2)


@pytest.mark.parametrize("role", [WhatAmI.CLIENT, WhatAmI.PEER])
def test_a_lost_endpoint_is_connected_again_and_declared_again(role: WhatAmI) -> None:
    port = free_port()
    endpoint = f"tcp/127.0.0.1:{port}"
    with opened(settings_of(listen=[endpoint])) as [first]:
        connecting = Node(settings_of(role, [f"{endpoint}#retry_period_init_ms=50"]))
        connecting.settings.connect_retry.first_s = 0.05
        connecting.open()
        application = Application(connecting)
        application.subscribe("kept/**")
        until(lambda: len(first.runners) == 1)
    try:
        until(lambda: not connecting.runners)
        with opened(settings_of(listen=[endpoint])) as [second]:
            until(lambda: len(second.runners) == 1 == len(connecting.runners))
            until_routed(Application(second), "kept/here", application)
    finally:
        connecting.close()


def test_listeners_get_events_of_transports() -> None:
    events: list[tuple[bool, TransportInfo, LinkInfo]] = []

    def note(came: bool, transport: TransportInfo, link: LinkInfo) -> None:
        events.append((came, transport, link))

    with opened(settings_of()) as [one]:
        one.events.add(note)
        with opened(settings_of(WhatAmI.CLIENT, one.locators())) as [client]:
            until(lambda: len(events) == 1)
        until(lambda: len(events) == 2)
        assert [came for came, _, _ in events] == [True, False]
        assert events[0][1] == TransportInfo(client.zid, WhatAmI.CLIENT, True, False)
        one.events.remove(note)


def test_gossip_connects_peers_of_a_common_neighbour() -> None:
    with opened(settings_of()) as [one]:
        both = [settings_of(connect=one.locators()) for _ in "ab"]
        with opened(*both) as (left, right):
            until(lambda: right.zid in left.runners and left.zid in right.runners)
            assert len(left.runners) == len(right.runners) == 2


def test_gossip_obeys_the_rules() -> None:
    with opened(settings_of()) as [one]:
        quiet = [change(settings_of(connect=one.locators()), gossip_autoconnect=0) for _ in "ab"]
        with opened(*quiet) as (left, right):
            holds(lambda: list(left.runners) == list(right.runners) == [one.zid], 0.3)


def test_closing_is_quick_and_complete() -> None:
    with opened(settings_of()) as [one]:
        peers = [settings_of(connect=one.locators()) for _ in range(5)]
        with opened(*peers) as nodes:
            until(lambda: len(one.runners) == 5)
            began = time.monotonic()
            one.close()
            assert time.monotonic() - began < 1.0
            assert not one.runners
            until(lambda: all(one.zid not in node.runners for node in nodes))


def test_close_ends_an_attempt_to_connect() -> None:
    known = own_threads()
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(5)  # it connects, and never answers
        endpoint = f"tcp/127.0.0.1:{deaf.getsockname()[1]}"
        patient = settings_of(connect=[endpoint])
        patient.open_timeout_s = patient.handshake_idle_s = 60
        node = Node(patient)
        node.open()
        began = time.monotonic()
        node.close()
        assert time.monotonic() - began < 30
        assert own_threads() <= known


def test_a_node_does_not_connect_to_itself() -> None:
    port = free_port()
    endpoint = f"tcp/127.0.0.1:{port}"
    with opened(settings_of(connect=[endpoint], listen=[endpoint])) as [node]:
        until(lambda: node.connectors[0].given_up.is_set())
        assert not node.runners


def test_the_number_of_transports_is_limited() -> None:
    with opened(change(settings_of(), max_sessions=2)) as [one]:
        clients = [settings_of(WhatAmI.CLIENT, one.locators()) for _ in range(2)]
        with opened(*clients):
            until(lambda: len(one.runners) == 2)
            with pytest.raises(ZenlakeError, match="Unable"):
                Node(settings_of(WhatAmI.CLIENT, one.locators())).open()


def test_many_threads_share_a_node() -> None:
    with opened(settings_of()) as [one]:
        connecting = settings_of(WhatAmI.CLIENT, one.locators())
        with opened(connecting) as [client]:
            receiver, sender = Application(one), Application(client)
            receiver.subscribe("many/**")
            until_routed(sender, "many/x", receiver)

            def publish(number: int) -> None:
                for count in range(500):
                    sender.put(f"many/{number}", count.to_bytes(2, "big"), BLOCK)

            threads = [threading.Thread(target=publish, args=(n,)) for n in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            receiver.wait_for(4000)
            for number in range(8):
                own = receiver.payloads(f"many/{number}")
                assert own == [count.to_bytes(2, "big") for count in range(500)]
