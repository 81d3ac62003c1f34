"""NodeSettings from configurations."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from zenlake.errors import LocalError
from zenlake.node import Node
from zenlake.node.autoconnect import ALL_ROLES, greater_zid_roles, may_connect
from zenlake.node.retry import Retry
from zenlake.node.settings import NodeSettings
from zenlake.wire import EndPoint, WhatAmI, ZenohId


def getter(config: Mapping[str, object]) -> Callable[[str], object]:
    """Returns values like a configuration: by path, None where nothing is set."""

    def get(path: str) -> object:
        found: object = config
        for name in path.split("/"):
            if not isinstance(found, Mapping):
                return None
            found = found.get(name)
        return found

    return get


def read(**config: object) -> NodeSettings:
    return NodeSettings.read(getter(config))


def texts(endpoints: list[EndPoint]) -> list[str]:
    return [str(endpoint) for endpoint in endpoints]


def test_defaults_of_the_three_modes() -> None:
    peer, client, router = read(), read(mode="client"), read(mode="router")
    assert [one.role for one in (peer, client, router)] == [
        WhatAmI.PEER,
        WhatAmI.CLIENT,
        WhatAmI.ROUTER,
    ]
    assert texts(peer.listen) == ["tcp/[::]:0"]
    assert texts(client.listen) == []
    assert texts(router.listen) == ["tcp/[::]:7447"]
    assert (peer.connect_timeout_s, client.connect_timeout_s) == (None, 0.0)
    assert (peer.connect_exit_on_failure, client.connect_exit_on_failure) == (False, True)
    assert (peer.gossip_autoconnect, router.gossip_autoconnect) == (ALL_ROLES, 0)
    assert (peer.routing.timestamping, router.routing.timestamping) == (False, True)
    assert (peer.wait_before_drop_s, peer.wait_before_close_s) == (0.001, 5.0)
    assert peer.zid != client.zid


def test_weights_of_links_between_routers() -> None:
    weights = [{"dst_zid": "a1", "weight": 7}, {"dst_zid": "b2", "weight": 65_535}]
    settings = read(
        mode="router", routing={"router": {"linkstate": {"transport_weights": weights}}}
    )
    assert settings.routing.link_weights == {ZenohId.parse("a1"): 7, ZenohId.parse("b2"): 65_535}
    assert read(mode="router").routing.link_weights == {}


def test_values_that_depend_on_the_mode() -> None:
    settings = read(
        mode="client",
        listen={"endpoints": {"router": ["tcp/[::]:1"], "client": ["tcp/[::]:2"]}},
        connect={
            "endpoints": ["tcp/a:1", {"strategy": "allOf", "locators": ["tcp/b:2", "udp/b:3"]}],
            "timeout_ms": {"client": -1},
        },
        timestamping={"enabled": {"router": False, "client": True}},
    )
    assert texts(settings.listen) == ["tcp/[::]:2"]
    assert texts(settings.connect) == ["tcp/a:1", "tcp/b:2", "udp/b:3"]
    assert settings.connect_timeout_s is None
    assert settings.routing.timestamping


def test_all_other_keys_are_read() -> None:
    queue = {
        "size": {"data": 3, "background": 16},
        "congestion_control": {
            "drop": {"wait_before_drop": 2000},
            "block": {"wait_before_close": -1},
        },
        "batching": {"enabled": False, "time_limit": 2},
    }
    settings = read(
        id="abc",
        scouting={
            "timeout": 100,
            "delay": 200,
            "multicast": {"enabled": False, "autoconnect": {"peer": ["router"]}, "ttl": 3},
            "gossip": {"enabled": False, "autoconnect_strategy": {"to_peer": "greater-zid"}},
        },
        transport={
            "unicast": {"lowlatency": True, "qos": {"enabled": False}, "max_sessions": 7},
            "link": {
                "protocols": ["tcp"],
                "tcp": {"so_sndbuf": 1},
                "tls": {"enable_mtls": True},
                "tx": {"lease": 1000, "sequence_number_resolution": "16bit", "queue": queue},
            },
            "auth": {"usrpwd": {"user": "u", "password": "p"}},
        },
    )
    assert settings.zid == ZenohId.parse("abc")
    assert (settings.scouting_timeout_s, settings.scouting_delay_s) == (0.1, 0.2)
    assert not settings.multicast_enabled
    assert (settings.multicast_autoconnect, settings.multicast_ttl) == (WhatAmI.ROUTER, 3)
    assert not settings.routing.gossip
    assert settings.gossip_greater_zid_roles == WhatAmI.PEER
    assert (settings.low_latency, settings.qos, settings.max_sessions) == (True, False, 7)
    assert settings.links.protocols == ["tcp"]
    assert settings.links.tls == {"enable_mtls": True}
    assert (settings.lease_ms, settings.resolution.sn_bits) == (1000, 16)
    assert settings.queue_batches == (2, 2, 2, 2, 2, 3, 2, 16)
    assert (settings.batching, settings.batching_s) == (False, 0.002)
    assert (settings.wait_before_drop_s, settings.wait_before_close_s) == (0.002, None)
    assert (settings.user, settings.password) == ("u", "p")


@pytest.mark.parametrize(
    "config",
    [
        {"mode": "server"},
        {"id": "00"},
        {"listen": {"endpoints": ["nonsense"]}},
        {"scouting": {"delay": "long"}},
        {"scouting": {"multicast": {"enabled": "yes"}}},
        {"scouting": {"multicast": {"autoconnect": ["everybody"]}}},
        {"scouting": {"gossip": {"autoconnect_strategy": "never"}}},
        {"transport": {"unicast": {"lowlatency": True}}},
        {"transport": {"link": {"tx": {"sequence_number_resolution": "7bit"}}}},
        {"transport": {"link": {"tx": {"queue": {"size": {"data": 17}}}}}},
        {"transport": {"auth": {"usrpwd": {"dictionary_file": "/no/such/file"}}}},
    ],
    ids=str,
)
def test_invalid_values_are_errors_that_name_the_key(config: dict[str, object]) -> None:
    with pytest.raises(LocalError):
        read(**config)


def test_autoconnect_strategies_depend_on_ids_and_roles() -> None:
    small, great = ZenohId.from_int(1), ZenohId.from_int(2)
    only = greater_zid_roles("greater-zid")
    assert may_connect(great, small, WhatAmI.PEER, only)
    assert not may_connect(small, great, WhatAmI.PEER, only)
    mixed = greater_zid_roles({"to_router": "always", "to_peer": "greater-zid"})
    assert may_connect(small, great, WhatAmI.ROUTER, mixed)
    assert not may_connect(small, great, WhatAmI.PEER, mixed)


def test_retry_periods_grow_and_endpoints_may_override_them() -> None:
    retry = Retry().for_endpoint(EndPoint.parse("tcp/a:1#retry_period_max_ms=3000"))
    assert [retry.first_s, retry.after(1.0), retry.after(2.0)] == [1.0, 2.0, 3.0]
    for word in ("soon", "nan", "inf"):
        with pytest.raises(LocalError):
            Retry().for_endpoint(EndPoint.parse(f"tcp/a:1#retry_period_init_ms={word}"))


def test_limits_that_can_be_set() -> None:
    transport = {
        "handshake_idle_seconds": 1,
        "reassembly_bytes": 2,
        "reassembly_process_bytes": 3,
        "reassembly_large_bytes": 10,
        "fragment_idle_seconds": 4,
        "sessions_per_address_percent": 50,
    }
    routing = {"declarations": 5, "interests": 6, "queries": 7}
    settings = read(
        limits={"transport": transport, "routing": routing},
        transport={"multicast": {"max_sessions": 9}, "link": {"rx": {"max_message_size": 8}}},
    )
    assert (settings.handshake_idle_s, settings.message_bytes_max) == (1, 8)
    assert settings.sessions_per_address() == 500
    assert (settings.routing.declarations_max, settings.routing.interests_max) == (5, 6)
    assert (settings.routing.queries_max, settings.group_peers_max) == (7, 9)
    budget = Node(settings).budget
    assert (budget.session_bytes_max, budget.limit_bytes, budget.idle_s) == (2, 3, 4)
    assert budget.large_bytes_max == 10
