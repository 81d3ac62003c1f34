"""Options of a writer: names in any case, values checked on the driver."""

from __future__ import annotations

import re

import pytest

from zenlake.errors import LocalError
from zenlake.sink.options import read_options

CONNECT = {"connect": "tcp/127.0.0.1:7447"}


def test_names_may_be_in_any_case() -> None:
    found = read_options(
        {"Connect": "tcp/a:1", "CongestionControl": "DROP", "PRIORITY": "data_low"}
    )
    assert found.config["connect/endpoints"] == '["tcp/a:1"]'
    assert (found.congestion, found.priority) == (0, 6)


@pytest.mark.parametrize("text", ["tcp/a:1, tcp/b:2", '["tcp/a:1", "tcp/b:2"]'])
def test_several_endpoints(text: str) -> None:
    assert read_options({"connect": text}).config["connect/endpoints"] == '["tcp/a:1", "tcp/b:2"]'


def test_a_full_link_is_waited_for_as_long_as_for_the_confirmation() -> None:
    key = "transport/link/tx/queue/congestion_control/block/wait_before_close"
    assert read_options(CONNECT).make_config().get(key) == 60_000_000
    given = CONNECT | {"flushTimeout": "2.5"}
    assert read_options(given).make_config().get(key) == 2_500_000
    assert read_options(given | {f"zenoh.{key}": "7"}).make_config().get(key) == 7


def test_configuration_keys_are_passed_on() -> None:
    given = {
        "zenoh.transport/auth/usrpwd/user": "alice",
        "zenoh.transport.auth.usrpwd.password": "123",
        "zenoh.connect/timeout_ms": "2000",
    }
    config = read_options(CONNECT | given).make_config()
    assert config.get("transport/auth/usrpwd/user") == "alice"
    assert config.get("transport/auth/usrpwd/password") == "123"
    assert config.get("connect/timeout_ms") == 2000
    assert config.get("mode") == "client"


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({}, "option connect is missing"),
        ({"path": "/x"}, "option connect is missing"),
        (CONNECT | {"path": "/x"}, "call save() without a path"),
        ({"conect": "tcp/a:1"}, "there is no option 'conect' (did you mean connect?)"),
        (CONNECT | {"table": "samples"}, "there is no option 'table'; for writing there are: con"),
        ({"connect": "localhost"}, "option connect is tcp/HOST:PORT"),
        ({"connect": "[1]"}, "option connect is tcp/HOST:PORT"),
        (CONNECT | {"priority": "0"}, "option priority is 1 (real_time) to 7 (background) or real"),
        (CONNECT | {"priority": "8"}, "not 8"),
        (CONNECT | {"congestionControl": "wait"}, "option congestionControl is block, drop, bl"),
        (CONNECT | {"express": "yes"}, "option express is true or false, not 'yes'"),
        (CONNECT | {"flushTimeout": "0"}, "option flushTimeout is seconds, up to 86400, not '0'"),
        (CONNECT | {"zenoh.mode": "peer"}, "option zenoh.mode cannot be set"),
        (CONNECT | {"zenoh.no/such": "1"}, "option zenoh.no/such: unknown key"),
        (CONNECT | {"encoding": "x" * ((1 << 20) + 1)}, "option encoding is longer than"),
    ],
)
def test_invalid_options_are_errors_of_one_line(given: dict[str, str], complaint: str) -> None:
    with pytest.raises(LocalError, match=re.escape(complaint)) as raised:
        read_options(given)
    assert "\n" not in str(raised.value)
