"""zenlake up: what official nodes publish and ask is in the tables seconds later."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.paths import DOCS
from tests.ports import free_endpoint
from tests.sessions import open_client
from tests.waiting import until
from tests.zenlake_process import CommandProcess, run_zenlake
from zenlake.cli.main import main

pytest.importorskip("pyspark", reason="the tables are made by Spark")
zenoh = pytest.importorskip("zenoh", reason="an official node publishes")
pytestmark = [pytest.mark.xdist_group("up"), pytest.mark.spark, pytest.mark.real]

SAMPLES = 500
DOCUMENT = DOCS / "up.md"


class Up(CommandProcess):
    """The command, in a folder of its own."""

    def __init__(self, folder: Path, lake: str = "live.lake") -> None:
        self.lake = lake if "://" in lake else str(folder / lake)
        self.recording = folder / "live.recording"
        self.endpoint = free_endpoint()
        options = ["-l", self.endpoint, "--no-multicast-scouting", "--port", "0", "--every", "1"]
        super().__init__("up", *options, "--lake", lake, folder=folder)
        lines = [self.next_line() for _ in range(4)]
        names = ["router", "recording", "lake", "report"]
        assert [line.split()[0] for line in lines] == names, lines
        assert lines[0].split()[1] == self.endpoint, "it accepts connections now"
        self.page = lines[3].split()[1]

    def sql(self, statement: str) -> list[dict[str, Any]]:
        done = run_zenlake("sql", "--lake", self.lake, "--json", statement)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def until_published(self, statement: str) -> None:
        """Asks about every version until there is a row."""
        from zenlake.lake.publish import Store

        asked: list[int | None] = [None]

        def is_published() -> bool:
            version = Store(self.lake).version()
            if version == asked[0]:
                time.sleep(0.1)
                return False
            asked[0] = version
            return bool(self.sql(statement))

        until(is_published, 60)

    def end(self, number: int) -> int:
        self.process.send_signal(number)
        return self.process.wait(120)


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Up]:
    with Up(tmp_path) as started:
        yield started


def run_documented_program(endpoint: str) -> str:
    """Runs the robot and the operator of the documentation; what they print."""
    [program] = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    program = program.replace("tcp/localhost:7447", endpoint).replace("sleep(0.1)", "sleep(0.01)")
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=90).stdout


def test_published_seconds_ago(up: Up) -> None:
    assert run_documented_program(up.endpoint) == "robot/arm/status 1\nrobot/arm/state 0\n"
    with open_client(up.endpoint, zenoh) as publisher, open_client(up.endpoint, zenoh) as other:
        other.declare_subscriber("robot/**", lambda sample: None)
        other.declare_queryable("robot/state", lambda query: query.reply("robot/state", "ok"))
        for n in range(SAMPLES):
            publisher.put("robot/pose", str(n))
        # The first query may be faster than the declaration of the other session.
        until(lambda: _replies(publisher) == ["ok"], 60)
        up.until_published("SELECT 1 FROM queries WHERE key = 'robot/state' AND replies > 0")
        with urllib.request.urlopen(up.page, timeout=90) as answer:
            assert b"robot/pose" in answer.read()
        publisher.put("robot/last", "published just before the end")
    assert up.end(signal.SIGINT) == 0
    assert up.process.stdout is not None
    assert "\nending: the rest of the recording is read" in up.process.stdout.read()
    verdicts = {one["key"]: one["verdict"] for one in up.sql("SELECT key, verdict FROM queries")}
    assert verdicts["robot/arm/status"] == "answered"
    assert verdicts["robot/arm/state"] == "empty"
    assert up.sql("SELECT count(DISTINCT payload) AS n FROM samples WHERE key = 'robot/pose'") == [
        {"n": SAMPLES}
    ]
    assert len(up.sql("SELECT 1 FROM samples WHERE key = 'robot/last'")) > 0
    assert {one["outcome"] for one in up.sql("SELECT outcome FROM sessions")} == {"closed"}
    assert {one.suffix for one in up.recording.iterdir() if one.name[0] == "0"} == {".pcapng"}


def test_children_end_with_a_killed_parent(up: Up) -> None:
    children = {int(one) for one in _children(up.process.pid)}
    assert len(children) == 2
    up.process.kill()
    until(lambda: not any(map(_is_running, children)), 60)


def _replies(session: Any) -> list[str]:
    return [one.ok.payload.to_string() for one in session.get("robot/state")]


def _children(pid: int) -> list[str]:
    found: list[str] = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        found += Path(f"/proc/{pid}/task/{thread}/children").read_text().split()
    return found


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(
    ("option", "value"), [("--every", "0"), ("--port", "65536"), ("--keep-bytes", "much")]
)
def test_wrong_options_are_one_line_before_anything_starts(
    option: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as raised:
        main(["up", option, value])
    assert raised.value.code == 2
    [line] = capsys.readouterr().err.splitlines()
    assert f"argument {option}: " in line


def test_options_of_the_router_are_checked(tmp_path: Path) -> None:
    done = run_zenlake("up", "-l", "foo/1", "--port", "0", folder=tmp_path)
    assert done.returncode == 2
    cause, code = done.stderr.splitlines()[-2:]
    assert "links of type 'foo' are not supported" in cause
    assert code == "zenlake: zenlake router ended with exit code 2"
