"""Secrets that rules exclude, and credentials, are in no file and no output of a recorder (A04).

24 secrets are planted in all places of messages that a user can fill. Without rules the same
traffic leaves all but the credentials in the recording: so the search would find them.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import zenlake
from tests.api.linked import publisher_of
from tests.sessions import open_client
from tests.waiting import until
from tests.zenlake_process import RecordProcess, RouterProcess
from zenlake import trace
from zenlake.cli.main import main
from zenlake.trace import Missing, Undecoded

NAMES = (
    "payload",
    "attachment",
    "key",
    "schema",
    "deleted",
    "long",
    "long_key",
    "express",
    "parameters",
    "query_payload",
    "query_attachment",
    "query_schema",
    "reply",
    "reply_attachment",
    "reply_key",
    "long_reply",
    "error",
    "token",
    "subscriber",
    "queryable",
)
SECRETS = {name: f"xyzzy-{name.replace('_', '-')}-9137" for name in NAMES}
DROPPED = {name: f"plugh-{name}-2718" for name in ("payload", "attachment")}
USER, PASSWORD = "frotz-user-6502", "frotz-password-6502"
RULES = ("--exclude", "secret/**", "--exclude", "@/*/*/*/secret/**", "--drop-payload", "camera/**")


def client_of(endpoint: str, module: Any = zenlake, **settings: object) -> Any:
    """A session of zenlake, or of eclipse-zenoh."""
    user = {"user": USER, "password": PASSWORD}
    return open_client(endpoint, module, transport__auth__usrpwd=user, **settings)


def answer(query: Any) -> None:
    parameters = str(query.parameters)
    with query:
        if "error" in parameters:
            query.reply_err(SECRETS["error"])
        elif "long" in parameters:
            query.reply(query.key_expr, SECRETS["long_reply"] * 9_000)
        else:
            key = f"secret/q/{SECRETS['reply_key']}"
            query.reply(key, SECRETS["reply"], attachment=SECRETS["reply_attachment"])


def plant(one: Any, two: Any, is_short: bool, module: Any = zenlake) -> None:
    """Send traffic of two clients, with every secret and with ordinary values."""
    with (
        two.declare_subscriber(f"secret/{SECRETS['subscriber']}/**"),
        two.declare_subscriber("**") as everything,
        two.declare_queryable(f"secret/{SECRETS['queryable']}/*"),
        two.declare_queryable("secret/q/**", answer),
        two.liveliness().declare_token(f"secret/{SECRETS['token']}"),
    ):
        publisher = publisher_of(one, "secret/p")
        publisher.put(
            SECRETS["payload"],
            attachment=SECRETS["attachment"],
            encoding=module.Encoding.TEXT_PLAIN.with_schema(SECRETS["schema"]),
        )
        publisher.delete(attachment=SECRETS["deleted"])
        # By default a node drops publications for which it has no room at the moment.
        put = partial(one.put, congestion_control=module.CongestionControl.BLOCK)
        put(f"secret/{SECRETS['key']}", "x")
        put("secret/e", SECRETS["express"], express=True)
        times = 20 if is_short else 10_000
        put("secret/long", SECRETS["long"] * times)
        put(f"secret/{SECRETS['long_key']}", "x" * 20 * times)
        put("camera/1", DROPPED["payload"], attachment=DROPPED["attachment"])
        for word in ("plain", "error", *([] if is_short else ["long"])):
            selector = f"secret/q/**?{word}={SECRETS['parameters']}"
            ask = partial(
                one.get,
                selector,
                payload=SECRETS["query_payload"],
                attachment=SECRETS["query_attachment"],
                encoding=module.Encoding.TEXT_PLAIN.with_schema(SECRETS["query_schema"]),
            )
            # The router may not know the queryable yet: its declaration came over another link.
            until(partial(_has_one_reply, ask))
        put("public/a", "nothing happens")
        until(lambda: any(str(sample.key_expr) == "public/a" for sample in _received(everything)))


def _has_one_reply(ask: Callable[[], Iterable[Any]]) -> bool:
    return len(list(ask())) == 1


def _received(subscriber: Any) -> list[Any]:
    found: list[Any] = []
    while (sample := subscriber.try_recv()) is not None:
        found.append(sample)
    return found


@contextmanager
def router_with_users(tmp_path: Path, *arguments: str) -> Iterator[RouterProcess]:
    users = tmp_path / "users"
    users.write_text(f"{USER}:{PASSWORD}\n")
    auth = ("--cfg", f'transport/auth/usrpwd/dictionary_file:"{users}"', "--log", "debug")
    own = (
        *("--cfg", f'transport/auth/usrpwd/user:"{USER}"'),
        *("--cfg", f'transport/auth/usrpwd/password:"{PASSWORD}"'),
    )
    with RouterProcess(*auth, *own, *arguments) as router:
        yield router


def found_in(*texts: bytes) -> set[str]:
    """The names of the secrets in files and outputs."""
    planted = {**SECRETS, "user": USER, "password": PASSWORD}
    planted |= {f"dropped {name}": text for name, text in DROPPED.items()}
    whole = b"\n".join(texts)
    return {name for name, text in planted.items() if text.encode() in whole}


def files_of(path: Path) -> list[bytes]:
    return [one.read_bytes() for one in path.iterdir()]


def losses_in(path: Path) -> list[object]:
    with trace.open(str(path)) as capture:
        return [event for event in capture if isinstance(event, (Missing, Undecoded))]


TRANSPORTS = {
    "plain": {},
    "compressed": {"transport/unicast/compression/enabled": True},
    "low latency": {
        "transport/unicast/lowlatency": True,
        "transport/unicast/qos/enabled": False,
    },
}


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("has_rules", [True, False])
def test_secrets_are_in_no_file_of_a_router(
    tmp_path: Path, transport: str, has_rules: bool
) -> None:
    path = tmp_path / "recording"
    rules = RULES if has_rules else ()
    values = TRANSPORTS[transport]
    router_values = [f"{key}:{json.dumps(value)}" for key, value in values.items()]
    settings = [word for text in router_values for word in ("--cfg", text)]
    is_short = transport == "low latency"
    with router_with_users(tmp_path, "--record", str(path), *rules, *settings) as router:
        with (
            client_of(router.endpoint, **values) as one,
            client_of(router.endpoint, **values) as two,
        ):
            plant(one, two, is_short)
        assert router.end() == 0
        output = "\n".join(map(str, router.entries)) + router.errors
    assert b"nothing happens" in b"".join(files_of(path))
    assert has_rules or main(["check", str(path)]) == 0
    assert losses_in(path) == []
    found = found_in(*files_of(path))
    if has_rules:
        assert found == set()
        # The log shows the configuration, without its password.
        assert found_in(output.encode()) == {"user"}
    elif transport == "plain":
        assert found == {*SECRETS, "dropped payload", "dropped attachment"}
    else:
        assert not found & {"user", "password"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert {stat.S_IMODE(one.stat().st_mode) for one in path.iterdir()} == {0o600}


def test_secrets_are_in_no_file_of_a_client(tmp_path: Path) -> None:
    path = tmp_path / "recording"
    auth = (
        *("--cfg", f'transport/auth/usrpwd/user:"{USER}"'),
        *("--cfg", f'transport/auth/usrpwd/password:"{PASSWORD}"'),
        *("--log", "debug", "--liveliness", "secret/**"),
    )
    with router_with_users(tmp_path) as router:
        arguments = ("-e", router.endpoint, "-k", "**", *RULES, *auth, str(path))
        with (
            RecordProcess(*arguments) as recorder,
            client_of(router.endpoint) as one,
            client_of(router.endpoint) as two,
        ):
            plant(one, two, is_short=False)
            recorder.wait_for_messages(5)
            assert recorder.end() == 0
    assert b"nothing happens" in b"".join(files_of(path))
    output = str(recorder.entries[-1]) + recorder.errors
    assert found_in(*files_of(path), output.encode()) == set()


@pytest.mark.real
@pytest.mark.parametrize("has_rules", [True, False])
def test_secrets_of_official_nodes_are_in_no_file(tmp_path: Path, has_rules: bool) -> None:
    zenoh = pytest.importorskip("zenoh", reason="eclipse-zenoh has no wheel for this Python")
    path = tmp_path / "recording"
    rules = RULES if has_rules else ()
    with router_with_users(tmp_path, "--record", str(path), *rules) as router:
        with client_of(router.endpoint, zenoh) as one, client_of(router.endpoint, zenoh) as two:
            plant(one, two, is_short=False, module=zenoh)
        assert router.end() == 0
    assert b"nothing happens" in b"".join(files_of(path))
    assert has_rules or main(["check", str(path)]) == 0
    assert losses_in(path) == []
    everything = {*SECRETS, "dropped payload", "dropped attachment"}
    assert found_in(*files_of(path)) == (set() if has_rules else everything)
