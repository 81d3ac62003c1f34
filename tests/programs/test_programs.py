"""Programs written from eclipse-zenoh's documentation: the same output on both modules.

They sleep where declarations or publications must arrive, as users' programs do: the API does not
report it.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.child_process import child_environment
from tests.ports import free_port

pytest.importorskip("zenoh", reason="eclipse-zenoh has no wheel for this Python")
pytestmark = pytest.mark.real

HERE = Path(__file__).parent
RUNNER = HERE / "on_zenlake.py"
PROGRAMS = sorted(path.stem for path in HERE.glob("*.py") if path not in (RUNNER, Path(__file__)))


def run(*command: str) -> tuple[str, int, float]:
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, *command, str(free_port())],
        env=child_environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    return done.stdout, done.returncode, time.monotonic() - start


def test_there_are_at_least_ten_programs() -> None:
    assert len(PROGRAMS) >= 10


@pytest.mark.parametrize("program", PROGRAMS)
def test_program_prints_the_same_on_both_modules(program: str) -> None:
    path = str(HERE / f"{program}.py")
    theirs, code, _ = run(path)
    assert (code, theirs.strip() != "") == (0, True)
    ours, code, _ = run(str(RUNNER), path)
    assert (ours, code) == (theirs, 0)
