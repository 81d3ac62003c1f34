"""A test that waits for ever fails after a while, and the others run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.child_process import child_environment
from tests.paths import ROOT

SUITE = """
import signal
import threading

def test_before():
    pass

def test_waits_for_ever():
    threading.Event().wait()

def test_that_no_signal_reaches():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    threading.Event().wait()

def test_after():
    pass
"""


def test_tests_that_never_end_fail_and_are_named(tmp_path: Path) -> None:
    (tmp_path / "test_ends.py").write_text(SUITE)
    plugins = ["-p", "tests.conftest", "-p", "no:cacheprovider", "-n", "1", "--dist", "loadgroup"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, "test_ends.py"],
        cwd=tmp_path,
        env=child_environment(ZENLAKE_TEST_SECONDS="1", ZENLAKE_FULL="0", PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "2 failed, 2 passed" in done.stdout
    waiting = "test_ends.py::test_waits_for_ever"
    assert f"TookTooLong: the call of {waiting} took more than 1 s" in done.stdout
    assert f"== the call of {waiting} took more than 1 s; all threads:" in done.stderr
    assert "crashed while running 'test_ends.py::test_that_no_signal_reaches'" in done.stdout
    assert len(re.findall("in test_that_no_signal_reaches", done.stderr)) == 1
