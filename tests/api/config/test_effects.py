"""Settings that zenlake does not implement: `open` refuses security settings, warns of others."""

from __future__ import annotations

import logging
import socket
from typing import Final

import pytest

import zenlake
from tests.ports import free_port
from tests.sessions import config_of
from zenlake.api.config.effects import check_effects
from zenlake.api.config.keys import KEYS, REFUSED, WARNED

_WHERE: Final = 'messages: ["put"]'
OTHER_VALUES: Final = {
    "region_name": '"r"',
    "gateway/south": "[]",
    "routing/router/peers_failover_brokering": "true",
    "qos/network": f'[{{{_WHERE}, overwrite: {{priority: "data"}}}}]',
    "transport/unicast/max_links": "2",
    "transport/multicast/compression/enabled": "true",
    "transport/link/tx/queue/congestion_control/drop/max_wait_before_drop_fragments": "1",
    "transport/link/tx/queue/allocation/mode": '"init"',
    "transport/link/tx/threads": "2",
    "transport/link/rx/buffer_size": "1000",
    "transport/link/unixpipe/file_access_mask": "384",
    "transport/shared_memory/mode": '"init"',
    "transport/shared_memory/transport_optimization/pool_size": "1",
    "transport/shared_memory/transport_optimization/message_size_threshold": "1",
    "transport/shared_memory/transport_optimization/messages": '["put"]',
    "transport/auth/pubkey/public_key_pem": '"x"',
    "transport/auth/pubkey/private_key_pem": '"x"',
    "transport/auth/pubkey/public_key_file": '"x"',
    "transport/auth/pubkey/private_key_file": '"x"',
    "transport/auth/pubkey/key_size": "1024",
    "transport/auth/pubkey/known_keys_file": '"x"',
    "downsampling": f'[{{{_WHERE}, rules: [{{key_expr: "a", freq: 1}}]}}]',
    "access_control/enabled": "true",
    "access_control/default_permission": '"allow"',
    "access_control/rules": '[{id: "1", permission: "deny", messages: ["put"], key_exprs: ["a"]}]',
    "access_control/subjects": '[{id: "1"}]',
    "access_control/policies": '[{rules: ["1"], subjects: ["1"]}]',
    "low_pass_filter": f'[{{{_WHERE}, key_exprs: ["a"], size_limit: 1}}]',
    "stats/filters": '[{key: "a"}]',
    "plugins_loading/enabled": "true",
    "plugins_loading/search_dirs": '["."]',
    "plugins": "{rest: {http_port: 8000}}",
}
OFF_IS_DONE: Final = {
    "transport/shared_memory/enabled",
    "transport/shared_memory/transport_optimization/enabled",
}
"""On by default, and without effect: switching them off is what happens anyway."""


def warnings_of(config: zenlake.Config) -> list[str]:
    texts: list[str] = []
    check_effects(config, texts.append)
    return texts


def test_every_key_without_effect_is_tried_here() -> None:
    unimplemented = {
        path
        for path, key in KEYS.items()
        if not key.honoured and not path.startswith("limits/")  # those cannot be changed
    }
    assert unimplemented - {limit for limit in KEYS if limit.startswith("limits/")} == (
        set(OTHER_VALUES) | OFF_IS_DONE
    )
    security = {path for path in OTHER_VALUES if KEYS[path].effect is REFUSED}
    assert security == {
        path for path in OTHER_VALUES if path.startswith(("access_control/", "transport/auth/"))
    }


@pytest.mark.parametrize("path", OTHER_VALUES)
def test_key_is_refused_or_warned_of_by_its_name(path: str) -> None:
    config = zenlake.Config()
    config.insert_json5(path, OTHER_VALUES[path])
    if KEYS[path].effect is WARNED:
        (text,) = warnings_of(config)
        assert text.startswith(f"{path} is set")
    else:
        with pytest.raises(zenlake.ZError, match=f"^{path}: zenlake does not implement"):
            warnings_of(config)


@pytest.mark.parametrize("path", [*OTHER_VALUES, *sorted(OFF_IS_DONE)])
def test_defaults_are_accepted_silently(path: str) -> None:
    default = zenlake.Config().get_json(path)
    config = zenlake.Config()
    config.insert_json5(path, default)
    if path == "access_control/default_permission":
        with pytest.raises(zenlake.ZError, match="default_permission: zenlake does not implement"):
            warnings_of(config)  # the default, but a user who writes `deny` relies on it
    else:
        assert warnings_of(config) == []


def test_disabled_sections_are_accepted_silently() -> None:
    rules = OTHER_VALUES["access_control/rules"]
    config = zenlake.Config.from_json5(f"""{{
        access_control: {{enabled: false, default_permission: "allow", rules: {rules}}},
        plugins_loading: {{enabled: false, search_dirs: ["."]}},
        transport: {{shared_memory: {{enabled: false, mode: "init"}}}},
    }}""")
    assert warnings_of(config) == []


def test_a_setting_that_has_an_effect_is_not_warned_of() -> None:
    config = config_of(transport__link__rx__max_message_size=1000, namespace="a")
    assert warnings_of(config) == []


def test_open_refuses_access_control_before_it_listens() -> None:
    port = free_port()
    config = config_of(
        listen__endpoints=[f"tcp/127.0.0.1:{port}"],
        access_control={"enabled": True, "default_permission": "deny"},
    )
    with pytest.raises(zenlake.ZError, match="access_control/"):
        zenlake.open(config)
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def test_open_warns_once_of_each_key(caplog: pytest.LogCaptureFixture) -> None:
    config = config_of()
    for path in ("downsampling", "low_pass_filter", "stats/filters"):
        config.insert_json5(path, OTHER_VALUES[path])
    with zenlake.open(config) as session:
        session.declare_subscriber("a")
    texts = [one.getMessage() for one in caplog.records if one.levelno == logging.WARNING]
    assert [text.partition(" ")[0] for text in texts] == [
        "downsampling",
        "low_pass_filter",
        "stats/filters",
    ]


def test_unknown_options_of_endpoints_are_warned_of() -> None:
    config = config_of(
        listen__endpoints=["tls/127.0.0.1:0#enable_mtsl=true;listen_certificate=a"],
        connect__endpoints={"peer": [{"strategy": "allOf", "locators": ["tcp/a:1#iface=lo;x=1"]}]},
    )
    (first, second) = warnings_of(config)
    about = "there is no option `enable_mtsl`: it has no effect"
    assert first == f"listen/endpoints: tls/127.0.0.1:0: {about}"
    assert second.startswith("connect/endpoints: tcp/a:1: there is no option `x`")


@pytest.mark.parametrize("mode", ["peer", "router"])
def test_clients_are_no_target_of_gossip(mode: str) -> None:
    """As in eclipse-zenoh: clients do not gossip."""
    config = config_of(mode, scouting__gossip__target=["peer", "client"])
    with pytest.raises(zenlake.ZError, match='"client" is not allowed as gossip target'):
        zenlake.open(config)
