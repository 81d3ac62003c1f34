"""A forked child leaves its parent's session alone, and may open its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import zenlake
from tests.api.linked import listening, node_of
from tests.child_process import child_environment
from tests.waiting import until

PROGRAM = Path(__file__).with_name("forking.py")
PATIENCE_S = 60.0
# These do nothing in the child: `with` blocks end there too.
HARMLESS = {"undeclare": "None", "close": "None", "is_closed": "True", "replies": "False"}


class Observer:
    """The peer of the program that forks; it records all that it receives."""

    def __init__(self) -> None:
        self.session = listening()
        self.endpoint = node_of(self.session).locators()[0]
        self.parent: list[int] = []
        self.children: list[int] = []
        self.tokens: list[zenlake.SampleKind] = []
        self.lost_transports: list[str] = []
        declare = self.session.declare_subscriber
        declare("parent", lambda sample: self.parent.append(int(sample.payload.to_string())))
        declare("child", lambda sample: self.children.append(int(sample.payload.to_string())))
        self.session.liveliness().declare_subscriber(
            "alive", lambda sample: self.tokens.append(sample.kind)
        )
        self.session.declare_queryable("question", self._answer)
        self.session.info.declare_transport_events_listener(self._note)

    def _answer(self, query: zenlake.Query) -> None:
        with query:
            query.reply("question", "42")

    def _note(self, event: zenlake.TransportEvent) -> None:
        if event.kind == zenlake.SampleKind.DELETE:
            self.lost_transports.append(str(event.transport.zid))

    def open_transports(self) -> list[str]:
        zids = [str(one.zid) for one in self.session.info.transports()]
        return [zid for zid in zids if zid not in self.lost_transports]


def run(way: str, observer: Observer) -> tuple[dict[str, Any], str]:
    """The report of the program, and the zid of its session, which is still open."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", str(PROGRAM), way]
    with subprocess.Popen(
        [*command, observer.endpoint],
        env=child_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        assert program.stderr is not None
        # The children are killed too: they would keep the pipes open.
        killer = threading.Timer(PATIENCE_S, os.killpg, (program.pid, signal.SIGKILL))
        killer.start()
        try:
            line = program.stdout.readline()
            if not line:
                pytest.fail(program.stderr.read())
            report = json.loads(line)
            until(lambda: len(observer.parent) >= report["published"])
            # The session of a child may be seen to end a moment after the child did.
            until(lambda: len(observer.open_transports()) <= 1)
            still_open = observer.open_transports()
            assert observer.tokens == [zenlake.SampleKind.PUT]
            program.stdin.close()
            assert program.wait() == 0
        finally:
            killer.cancel()
        assert program.stderr.read() == ""
    assert len(still_open) == 1
    return report, still_open[0]


@pytest.mark.parametrize("way", ["exit", "_exit", "with", "fork", "spawn", "forkserver"])
def test_a_child_leaves_the_session_of_its_parent_alone(way: str) -> None:
    observer = Observer()
    with observer.session:
        report, zid = run(way, observer)
        assert observer.parent == list(range(report["published"]))
        assert sorted(observer.children) == [0, 1, 2]
        # The parent's transport was never replaced: it ends once, with the parent.
        assert observer.lost_transports.count(zid) <= 1
        for outcomes in report["children"]:
            assert outcomes.pop("own") == "['42']"
            for name, outcome in outcomes.items():
                if name in HARMLESS:
                    assert outcome == f"returned {HARMLESS[name]}", name
                else:
                    assert "belongs to process" in outcome, name
                    assert "open another session in the child" in outcome
            assert len(outcomes) in (0, 18)  # none in a child that did not inherit anything
