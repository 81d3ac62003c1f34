"""zenlake record: a client that records what a network publishes."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import zenlake
from tests.api.linked import publisher_of
from tests.child_process import child_environment
from tests.cli.command import assert_refused
from tests.interop.puppets import PuppetProcess, settings, theirs
from tests.ports import free_endpoint
from tests.sessions import open_client
from tests.waiting import until
from tests.zenlake_process import ZENLAKE, RecordProcess, RouterProcess, run_zenlake
from zenlake import trace
from zenlake.cli.main import main
from zenlake.trace import MessageSeen


@contextmanager
def recorded(
    path: Path, key: str, *arguments: str
) -> Iterator[tuple[RecordProcess, zenlake.Session]]:
    """A recorder and a client of the same router, which knows the key of the recorder."""
    with (
        RouterProcess() as router,
        RecordProcess("-e", router.endpoint, "-k", key, *arguments, str(path)) as recorder,
        open_client(router.endpoint) as client,
    ):
        publisher_of(client, key).undeclare()
        yield recorder, client


def kinds_in(path: Path) -> Counter[str]:
    """How often each kind of message was received, and the keys of publications."""
    found: Counter[str] = Counter()
    with trace.open(str(path)) as capture:
        for event in capture:
            if isinstance(event, MessageSeen):
                found[event.kind] += 1
    return found


def keys_in(path: Path) -> set[str]:
    with trace.open(str(path)) as capture:
        found = [event.key for event in capture if isinstance(event, MessageSeen)]
    return {str(key) for key in found if key is not None}


def test_command_ends_when_its_folder_is_deleted(tmp_path: Path) -> None:
    path = tmp_path / "recording"
    with recorded(path, "a/**") as (recorder, client):
        client.put("a/x", "recorded")
        recorder.wait_for_messages(1)
        shutil.rmtree(path)
        _, errors = recorder.process.communicate(timeout=20)
    assert recorder.process.returncode == 1
    assert "ends: the folder or its last segment was deleted" in errors
    assert "too slow" not in errors


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_records_publications_and_tokens_until_a_signal(tmp_path: Path, number: int) -> None:
    path = tmp_path / "recording"
    arguments = ["-k", "b", "--liveliness", "alive/**"]
    with recorded(path, "a/**", *arguments) as (recorder, client):
        token = client.liveliness().declare_token("alive/x")
        for index in range(100):
            client.put("a/x", f"value {index}")
        client.put("b", b"x" * 200_000)
        client.put("c", "not subscribed")
        client.delete("a/x")
        token.undeclare()
        recorder.wait_for_messages(104)
        assert recorder.end(number) == 0
    assert recorder.errors == ""
    assert recorder.ended_s < 1.5  # a second, on a machine that runs other tests
    last = recorder.entries[-1]
    assert (last["event"], last["dropped"]) == ("ended", 0)
    kinds = kinds_in(path)
    assert (kinds["PUSH/PUT"], kinds["PUSH/DEL"]) == (101, 1)
    assert (kinds["DECLARE/D_TOKEN"], kinds["DECLARE/U_TOKEN"]) == (1, 1)
    assert (kinds["INIT_SYN"], kinds["OPEN_ACK"], kinds["CLOSE"]) == (1, 1, 1)
    assert {"a/x", "b"} <= keys_in(path)
    assert "c" not in keys_in(path)
    assert main(["check", str(path)]) == 0


def test_files_are_readable_by_their_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "recording"
    with (
        RouterProcess() as router,
        RecordProcess("-e", router.endpoint, "-k", "a", str(path)) as it,
    ):
        assert it.end() == 1  # nothing was received
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert {stat.S_IMODE(one.stat().st_mode) for one in path.iterdir()} == {0o600}


def test_recording_continues_when_the_router_is_back(tmp_path: Path) -> None:
    path = tmp_path / "recording"
    retry = ["--cfg", "connect/retry:{period_init_ms: 100, period_max_ms: 100}"]
    with (
        RouterProcess() as router,
        RecordProcess("-e", router.endpoint, "-k", "a/*", *retry, str(path)) as recorder,
    ):
        with open_client(router.endpoint) as client:
            publisher_of(client, "a/1").put("before")
            recorder.wait_for_messages(1)
        router.end()
        while recorder.next_entry()["messages"]:
            continue  # lines from before the link closed
        with RouterProcess("-l", router.endpoint) as again, open_client(again.endpoint) as client:
            publisher_of(client, "a/2").put("after")
            recorder.wait_for_messages(1)
            assert recorder.end() == 0
    kinds = kinds_in(path)
    assert (kinds["PUSH/PUT"], kinds["OPEN_ACK"]) == (2, 2)
    assert {"a/1", "a/2"} <= keys_in(path)


def test_a_second_run_continues_the_recording(tmp_path: Path) -> None:
    path = tmp_path / "recording"
    with RouterProcess() as router, open_client(router.endpoint) as client:
        for value in ("first", "second"):
            with RecordProcess("-e", router.endpoint, "-k", "a", str(path)) as recorder:
                publisher_of(client, "a").put(value)
                recorder.wait_for_messages(1)
                assert recorder.end() == 0
    assert kinds_in(path)["PUSH/PUT"] == 2
    assert len(list(path.glob("*.pcapng"))) == 2


def test_rules_apply_before_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "recording"
    rules = ["--exclude", "secret/**", "--drop-payload", "camera/*"]
    with recorded(path, "**", *rules) as (recorder, client):
        client.put("secret/hunter2", "hunter2")
        client.put("camera/1", "hunter2")
        client.put("public", "hello")
        recorder.wait_for_messages(3)
        assert recorder.end() == 0
    written = b"".join(one.read_bytes() for one in path.iterdir())
    assert b"hunter2" not in written
    assert b"hello" in written
    assert keys_in(path) >= {"camera/1", "public"}


def test_segments_are_cut_and_deleted_by_size(tmp_path: Path) -> None:
    path = tmp_path / "recording"
    sizes = ["--segment-bytes", "64K", "--keep-bytes", "200K"]
    with recorded(path, "a", *sizes) as (recorder, client):
        for number in range(6):
            for _ in range(70):
                client.put("a", b"x" * 1000, congestion_control=zenlake.CongestionControl.BLOCK)
            recorder.wait_for_messages(70 * (number + 1))
        assert recorder.end() == 0
    segments = sorted(path.glob("*.pcapng"))
    assert segments[0].name != "00000001.pcapng"
    assert len(segments) >= 2
    assert sum(one.stat().st_size for one in segments) < 500_000


def test_peer_mode_records_every_link(tmp_path: Path) -> None:
    path = tmp_path / "recording"
    listen = ["-l", "tcp/127.0.0.1:0", "-m", "peer"]
    with recorded(path, "a", *listen) as (recorder, client):
        client.put("a", "hello")
        recorder.wait_for_messages(1)
        assert recorder.end() == 0
    assert kinds_in(path)["PUSH/PUT"] == 1


@pytest.mark.real
def test_publications_of_an_official_node_through_an_official_router(tmp_path: Path) -> None:
    path = tmp_path / "recording"
    endpoint = free_endpoint()
    router, publisher = PuppetProcess(theirs()[0]), PuppetProcess(theirs()[0])
    try:
        router.open(**settings("router", **{"listen/endpoints": [endpoint]}))
        publisher.open(**settings("client", **{"connect/endpoints": [endpoint]}))
        with RecordProcess("-e", endpoint, "-k", "a/**", str(path)) as recorder:
            publisher.ask("publisher", name="p", key="a/b")
            until(lambda: publisher.ask("is_matching", name="p")["matching"])
            for index in range(20):
                publisher.ask("publish", name="p", payload=bytes([index]).hex())
            recorder.wait_for_messages(20)
            assert recorder.end() == 0
    finally:
        publisher.kill()
        router.kill()
    assert kinds_in(path)["PUSH/PUT"] == 20


# --- mistakes ------------------------------------------------------------------------------------


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_zenlake("record", "--no-multicast-scouting", *arguments)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["DIR"], "nothing to record: use -k KEY or --liveliness KEY"),
        (["-k", "a//b", "DIR"], "a chunk is empty"),
        (["-k", "a", "--exclude", "a//b", "DIR"], "recording/exclude"),
        (["-k", "a", "--segment-bytes", "many", "DIR"], "'many' is not a size such as 64M"),
        (["-k", "a", "--keep-seconds", "-1", "DIR"], "'-1' is not a time such as 30, 10m or 7d"),
        (["-k", "a", "-e", "tcp/127.0.0.1:1", "DIR"], "tcp/127.0.0.1:1"),
        (["-k", "a", "-m", "router", "DIR"], "invalid choice: 'router'"),
        (["-k", "a"], "DIR"),
    ],
)
def test_mistake_is_one_line(arguments: list[str], complaint: str, tmp_path: Path) -> None:
    words = [str(tmp_path / "new") if word == "DIR" else word for word in arguments]
    assert_refused(run(*words), complaint)


def test_folder_that_cannot_be_recorded_into_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.png").write_text("no recording")
    with RouterProcess() as router:
        for name in ("file", "photos", "file/below"):
            assert_refused(run("-e", router.endpoint, "-k", "a", str(tmp_path / name)), name)
        with RecordProcess("-e", router.endpoint, "-k", "a", str(tmp_path / "one")):
            assert_refused(run("-e", router.endpoint, "-k", "a", str(tmp_path / "one")), "one")


def test_progress_is_shown_on_a_terminal_only(tmp_path: Path) -> None:
    import pty

    with RouterProcess() as router:
        reader, writer = pty.openpty()
        command = [*ZENLAKE, "record", "-e", router.endpoint]
        command += ["--no-multicast-scouting", "--progress", "0.1", "-k", "a", str(tmp_path / "r")]
        process = subprocess.Popen(command, stderr=writer, env=child_environment())
        os.close(writer)
        shown = b""
        while b"packets" not in shown:
            shown += os.read(reader, 1000)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 1
        os.close(reader)
    assert b"recording into" in shown
    assert b"dropped" in shown


def test_json_lines_have_the_counters(tmp_path: Path) -> None:
    with recorded(tmp_path / "r", "a") as (recorder, client):
        client.put("a", "x")
        entry = recorder.wait_for_messages(1)
        assert set(entry) == {"event", "seconds", "packets", "bytes", "dropped", "messages"}
        assert recorder.end() == 0
    assert recorder.entries[-1]["packets"] > 4
