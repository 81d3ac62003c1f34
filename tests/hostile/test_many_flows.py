"""Very many TCP connections of one segment each: time and memory per connection are bounded."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.chance import IS_FULL
from tests.hostile.many_flows import KINDS, write
from tests.lake.faults.driver import environment
from zenlake.limits import TCP_NEW_FLOWS_MAX

COUNT = 300_000 if IS_FULL else 6_000
MEBIBYTES_MAX = 600 if IS_FULL else 150
"""Memory of the process. Connections with an INIT use most: the summary keeps their sessions."""
SECONDS_PER_FLOW_MAX = 0.001
"""Ten times the time on a busy machine; quadratic growth would exceed it by far."""
SESSIONS = {"init": COUNT, "mixed": COUNT // 5}


def spent(arguments: list[str]) -> tuple[str, float, float]:
    """Output, processor time in seconds and peak memory in MiB of a command."""
    # `getrusage` would return the size of this process if it is larger than the child.
    script = (
        "import re, sys; from zenlake.cli.main import main; code = main(sys.argv[1:]);"
        "[size] = re.findall('VmHWM:[^0-9]+([0-9]+)', open('/proc/self/status').read());"
        "print(code, size, file=sys.stderr)"
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env=environment(),
        capture_output=True,
        text=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    code, kilobytes = done.stderr.splitlines()[-1].split()
    assert code == "0", done.stderr
    print(*arguments[:1], f"{seconds:.1f} s", f"{time.monotonic() - began:.1f} s", kilobytes, "kB")
    return done.stdout, seconds, int(kilobytes) / 1024


@pytest.mark.parametrize("kind", KINDS)
def test_check_and_decode_are_bounded(kind: str, tmp_path: Path) -> None:
    if IS_FULL:
        assert COUNT > 9 * TCP_NEW_FLOWS_MAX
    path = str(write(tmp_path / f"{kind}.pcap", kind, COUNT))
    said, seconds, mebibytes = spent(["check", "--json", path])
    assert json.loads(said.splitlines()[-1])["messages"] == SESSIONS.get(kind, 0)
    assert seconds < 5 + COUNT * SECONDS_PER_FLOW_MAX
    assert mebibytes < MEBIBYTES_MAX
    said, seconds, mebibytes = spent(["decode", "--json", path])
    messages = [line for line in said.splitlines() if '"event": "message"' in line]
    assert len(messages) == SESSIONS.get(kind, 0)
    assert seconds < 5 + COUNT * SECONDS_PER_FLOW_MAX
    assert mebibytes < MEBIBYTES_MAX
