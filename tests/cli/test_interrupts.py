"""Ctrl-C: the command ends within a second, silently, and leaves no process or file behind."""

from __future__ import annotations

import fcntl
import gzip
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest

from tests.child_process import child_environment
from tests.trace.sidecar import PATHS
from tests.waiting import until

CAPTURE = str(PATHS["queries"])
DEMO = str(resources.files("zenlake.cli") / "demo_data" / "robot.pcapng")
WAIT_SECONDS = 300
# Where tests run in the background Ctrl-C is ignored, and children inherit that.
HANDLE = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
RUN = "from zenlake.cli.__main__ import run; run()"


def start(folder: Path, *arguments: str, before: str = "") -> subprocess.Popen[bytes]:
    """`before` is code of the test, run first in the new process."""
    code = "\n".join([HANDLE, f"import sys; sys.argv[1:] = {list(arguments)!r}", before, RUN])
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=folder,
        env=child_environment(TMPDIR=str(folder)),
        start_new_session=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def in_session(process: subprocess.Popen[bytes]) -> list[str]:
    """The living processes that a command started, by name."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        state, _, _, session, *_ = rest.split()
        if int(session) == process.pid and state != "Z":
            found.append(name)
    return found


def interrupt(process: subprocess.Popen[bytes]) -> tuple[int, bytes, bytes]:
    """Like a terminal: all processes get the signal."""
    os.killpg(process.pid, signal.SIGINT)
    try:
        out, err = process.communicate(timeout=WAIT_SECONDS)
    finally:
        process.kill()
    return process.returncode, out, err


@pytest.mark.parametrize(
    "moment",
    ["zenlake.cli.main", "argparse", "zenlake.cli.decode.line", "zenlake.why.from_capture"],
)
def test_while_modules_are_imported(tmp_path: Path, moment: str) -> None:
    """The last one while the command runs, where others would get a KeyboardInterrupt."""
    before = f"""
import os, sys, time
class Slow:
    def find_spec(self, name, path, target=None):
        if name == {moment!r}:
            print(flush=True)
            try:
                time.sleep(60)
            except KeyboardInterrupt:
                os.abort()
sys.meta_path.insert(0, Slow())
"""
    command = "why" if "why" in moment else "decode"
    process = start(tmp_path, command, CAPTURE, before=before)
    assert process.stdout is not None
    assert process.stdout.readline() == b"\n"
    assert interrupt(process) == (130, b"", b"")


def test_while_python_shuts_down(tmp_path: Path) -> None:
    before = """
import atexit, time
def slow():
    print(flush=True)
    time.sleep(60)
atexit.register(slow)
"""
    process = start(tmp_path, "ke", "canonize", "a", before=before)
    assert process.stdout is not None
    assert process.stdout.read(3) == b"a\n\n"
    assert interrupt(process) == (130, b"", b"")


@pytest.mark.parametrize("command", ["decode -q", "check", "why"])
def test_while_a_capture_is_read(tmp_path: Path, command: str) -> None:
    process = start(tmp_path, *command.split(), "-")
    assert process.stdin is not None
    data = gzip.decompress(Path(CAPTURE).read_bytes())
    assert len(data) > 2 * fcntl.fcntl(process.stdin, fcntl.F_GETPIPE_SZ)
    # More than a pipe holds: when all of it is written, the command reads, and waits for more.
    process.stdin.write(data)
    process.stdin.flush()
    code, _, err = interrupt(process)
    assert code == 130
    assert b"Traceback" not in err


def test_no_partial_file_is_left(tmp_path: Path) -> None:
    before = """
import time
from zenlake.capture.pcapng_writer import PcapngWriter
write = PcapngWriter.write
def slow(self, packet, comment=""):
    write(self, packet, comment)
    time.sleep(60)
PcapngWriter.write = slow
"""
    process = start(tmp_path, "decode", "-q", "-w", "out.pcapng", CAPTURE, before=before)
    until(lambda: os.listdir(tmp_path), WAIT_SECONDS)
    code, out, err = interrupt(process)
    assert (code, out) == (130, b"")
    assert b"Traceback" not in err
    assert os.listdir(tmp_path) == []


def test_kill_leaves_no_temporary_folder(tmp_path: Path) -> None:
    """While a page is made: the tables of the capture are there, and a folder of the database."""
    pytest.importorskip("duckdb", reason="needs zenlake[sql]")
    before = """
import time
from zenlake.report import report
def slow(*arguments):
    print(flush=True)
    time.sleep(60)
report.overview = slow
"""
    process = start(tmp_path, "report", DEMO, "-o", "page.html", before=before)
    assert process.stdout is not None
    assert process.stdout.readline() == b"\n"
    assert len(os.listdir(tmp_path)) == 2
    process.terminate()
    assert process.communicate(timeout=WAIT_SECONDS) == (b"", b"")
    assert process.returncode == 128 + signal.SIGTERM
    assert os.listdir(tmp_path) == []


def test_all_processes_that_were_started_are_ended(tmp_path: Path) -> None:
    """Including processes that ignore the signal, and their children in other process groups."""
    before = """
import subprocess, sys
from zenlake.cli import ke
from zenlake.cli.interrupts import ending_immediately
child = '''
import os, signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
own_group = "import os, time; os.setpgid(0, 0); print(flush=True); time.sleep(60)"
subprocess.Popen([sys.executable, "-c", own_group])
time.sleep(60)
'''
def run(args):
    with ending_immediately():
        subprocess.run([sys.executable, "-c", child])
ke.run = run
"""
    process = start(tmp_path, "ke", "canonize", "a", before=before)
    assert process.stdout is not None
    assert process.stdout.readline() == b"\n"
    assert len(in_session(process)) == 3
    assert interrupt(process) == (130, b"", b"")
    assert in_session(process) == []


@pytest.fixture
def spark_command(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    pytest.importorskip("pyspark", reason="needs zenlake[lake]")
    lake = str(tmp_path / "lake")
    process = start(tmp_path, "pipeline", CAPTURE, "--lake", lake)
    yield process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.spark
@pytest.mark.parametrize("moment", ["java", "read"])
def test_a_pipeline_leaves_nothing(
    tmp_path: Path, moment: str, spark_command: subprocess.Popen[bytes]
) -> None:
    """A pipeline ends while Java starts, and while its tasks read."""
    if moment == "java":
        until(lambda: "java" in in_session(spark_command), WAIT_SECONDS)
    else:
        until(lambda: [*tmp_path.glob("lake/_staging/*/task-*")], WAIT_SECONDS)
    begun = time.monotonic()
    assert interrupt(spark_command) == (130, b"", b"")
    spent = time.monotonic() - begun
    assert in_session(spark_command) == []
    assert [name for name in os.listdir(tmp_path) if not name.startswith("tmp")] == []
    # Far more than it takes, because the machine may be busy; Java alone would take longer.
    assert spent < 10
