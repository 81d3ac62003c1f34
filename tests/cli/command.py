"""`zenlake` in a process of its own, and the errors of commands: one line and exit code 2."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import pytest

from tests.child_process import child_environment
from zenlake.cli.main import main


class CommandProcess:
    """A command that runs until it is ended; killed at the end of a `with`."""

    def __init__(
        self,
        *arguments: str,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "zenlake", *arguments],
            cwd=folder,
            env=child_environment(**(environment or {})),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def next_line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"it ended: {self.process.communicate()[1]}")
        return line

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()


def run_command(
    *arguments: str, stdin: str = "", folder: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "zenlake", *arguments],
        input=stdin,
        cwd=folder,
        env=child_environment(**environment),
        capture_output=True,
        text=True,
        timeout=500,
    )


def assert_refused(result: subprocess.CompletedProcess[str], complaint: str) -> None:
    assert (result.returncode, result.stdout) == (2, "")
    assert complaint in result.stderr
    assert result.stderr.count("\n") == 1, result.stderr


def complaint_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The error of a command that is called in this process, without `zenlake: `."""
    assert main([*arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("zenlake: ")
    assert err.count("\n") == 1, err
    return err.removeprefix("zenlake: ").rstrip()
