"""zenlake router: a process that real clients use, and that ends by a signal."""

from __future__ import annotations

import argparse
import json
import logging
import re
import signal
import socket
from pathlib import Path

import pytest

import zenlake
from tests.cli.command import assert_refused
from tests.interop.puppets import PuppetProcess, settings, theirs
from tests.sessions import open_client
from tests.waiting import until
from tests.zenlake_process import RouterProcess, run_zenlake
from zenlake.cli.router import add_arguments, config_of


def config_from(*arguments: str) -> zenlake.Config:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return config_of(parser.parse_args(arguments))


def test_without_flags_the_node_is_a_router_with_an_admin_space() -> None:
    config = config_from()
    assert config.mode == "router"
    assert config.get("adminspace/enabled") is True
    assert config.get("adminspace/permissions/write") is False
    assert config.get("listen/endpoints") == ["tcp/[::]:7447"]
    assert config.get("timestamping/enabled") is True


def test_flags_replace_what_the_file_says_and_cfg_comes_last(tmp_path: Path) -> None:
    path = tmp_path / "router.json5"
    path.write_text("""{
        mode: "peer", id: "f1",
        listen: {endpoints: ["tcp/127.0.0.1:1"]}, connect: {endpoints: ["tcp/127.0.0.1:2"]},
        timestamping: {enabled: true}, adminspace: {enabled: false},
    }""")
    config = config_from("-c", str(path))
    assert config.mode == "peer"
    assert config.get("id") == "f1"
    assert config.get("adminspace/enabled") is True
    flags = ["-i", "a1", "-l", "tcp/127.0.0.1:3", "-l", "tcp/127.0.0.1:4", "-e", "tcp/a:5"]
    config = config_from(
        "-c", str(path), *flags, "--no-timestamp", "--no-multicast-scouting", "--cfg", "id:'b2'"
    )
    assert config.get("id") == "b2"
    assert config.get("listen/endpoints") == ["tcp/127.0.0.1:3", "tcp/127.0.0.1:4"]
    assert config.get("connect/endpoints") == ["tcp/a:5"]
    assert config.get("timestamping/enabled") is False
    assert config.get("scouting/multicast/enabled") is False


def test_cfg_without_a_key_is_the_whole_configuration(tmp_path: Path) -> None:
    path = tmp_path / "router.json5"
    path.write_text('{id: "f1", metadata: 1}')
    whole = '--cfg=:{id: "a1"}'
    config = config_from("-c", str(path), whole, "--cfg", "/queries_default_timeout:7")
    assert config.get("id") == "a1"
    assert config.get("metadata") is None
    assert config.get("queries_default_timeout") == 7


@pytest.mark.parametrize(
    ("letters", "read", "write"),
    [("r", True, False), ("w", False, True), ("rw", True, True), ("none", False, False)],
)
def test_adminspace_permissions(letters: str, read: bool, write: bool) -> None:
    config = config_from("--adminspace-permissions", letters)
    assert config.get("adminspace/permissions/read") is read
    assert config.get("adminspace/permissions/write") is write


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--cfg", "nonsense:1"], "unknown key: nonsense"),
        (["--cfg", "nonsense"], "--cfg takes KEY:VALUE"),
        (["--cfg", "id:{"], "--cfg id: line 1, column 2: expected a name"),
        (["-c", "missing.json5"], "missing.json5"),
        (["-l", "nonsense"], "listen/endpoints: expected an endpoint"),
        (["-i", "xyz"], "id: expected"),
        (["-P", "rest"], "plugins are not supported"),
        (["--plugin-search-dir", "."], "plugins are not supported"),
        (["--rest-http-port", "8000"], "the REST plugin is not supported"),
        (["--cfg", "access_control/enabled:true"], "zenlake does not implement this security"),
        (["--adminspace-permissions", "x"], "invalid choice"),
    ],
)
def test_a_wrong_call_gets_one_line_and_code_2(arguments: list[str], complaint: str) -> None:
    assert_refused(run_zenlake("router", "--log", "off", *arguments), complaint)


def test_address_in_use_is_an_error_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        endpoint = f"tcp/127.0.0.1:{server.getsockname()[1]}"
        result = run_zenlake("router", "-l", endpoint)
    assert result.returncode == 2
    assert re.fullmatch(rf"zenlake: .*{re.escape(endpoint)}.*in use\n", result.stderr)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_close_and_code_0(
    number: signal.Signals, caplog: pytest.LogCaptureFixture
) -> None:
    with RouterProcess("-i", "a1") as process, caplog.at_level(logging.INFO, "zenlake.transport"):
        assert process.zid == "a1"
        with open_client(process.endpoint) as client:
            assert [str(zid) for zid in client.info.routers_zid()] == ["a1"]
            assert process.end(number) == 0
            until(lambda: "the peer closed" in caplog.text)
        assert process.errors == ""
        last = process.entries[-1]
        assert last["message"] == f"ended by {number.name}" or "closed" in last["message"]


def test_router_listens_on_every_endpoint() -> None:
    flags = ["-l", "tcp/127.0.0.1:0", "-l", "udp/127.0.0.1:0"]
    with RouterProcess(*flags) as process, open_client(process.endpoint) as client:
        (reply,) = client.get("@/*/router")
        assert reply.ok
        root = json.loads(reply.ok.payload.to_bytes())
        assert [text.partition("/")[0] for text in root["locators"]] == ["tcp", "udp"]


def test_log_lines_have_a_time_a_level_and_a_target() -> None:
    with RouterProcess("--log", "zenohd=debug") as process:
        assert process.end() == 0
        assert all(e.keys() == {"time", "level", "target", "message"} for e in process.entries)
        assert {entry["target"] for entry in process.entries} == {"zenlake.router"}
        assert "debug" in {entry["level"] for entry in process.entries}


def test_rust_log_chooses_what_is_logged() -> None:
    for level, expected in (("warn", 0), ("info", 1)):
        result = run_zenlake("router", "-l", "tcp/192.0.2.1:1", RUST_LOG=level)
        assert result.returncode == 2
        assert result.stdout.count(" INFO    zenlake.router: zenlake ") == expected


@pytest.mark.real
def test_real_clients_talk_through_the_router() -> None:
    pytest.importorskip("zenoh", reason="eclipse-zenoh has no wheel for this Python")
    with RouterProcess() as process:
        one, two = PuppetProcess(theirs()[0]), PuppetProcess(theirs()[0])
        try:
            for held in (one, two):
                held.open(**settings("client", **{"connect/endpoints": [process.endpoint]}))
            two.ask("subscribe", name="s", key="demo/**")
            two.ask("queryable", name="q", key="ask", replies=[{"key": "ask", "value": "aa"}])
            one.ask("publisher", name="p", key="demo/a")
            until(lambda: one.ask("is_matching", name="p")["matching"])
            one.ask("publish", name="p", payload=b"hello".hex())
            (sample,) = two.items("s", 1)
            assert sample["key"] == "demo/a"
            (reply,) = one.ask("get", selector="ask")["replies"]
            assert reply["ok"]["payload"] == "aa"
            assert process.end() == 0
        finally:
            one.kill()
            two.kill()
