"""The errors of commands: one line and exit code 2."""

from __future__ import annotations

import subprocess

import pytest

from zenlake.cli.main import main


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
