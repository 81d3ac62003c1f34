"""The notice of an install that is not compiled: who sees it, and how often."""

from __future__ import annotations

import contextlib
import io
import os
import pty
import subprocess
from pathlib import Path

import pytest

import zenlake
from tests.zenlake_process import ZENLAKE
from zenlake._compiled import is_compiled
from zenlake.cli import uncompiled_notice
from zenlake.cli.main import build_parser
from zenlake.cli.uncompiled_notice import LARGE_BYTES, NOTICE, show_uncompiled_notice


@pytest.fixture
def large(tmp_path: Path) -> str:
    """A capture whose size is all that matters here."""
    path = tmp_path / "large.pcap"
    with open(path, "wb") as file:
        file.truncate(LARGE_BYTES)
    return str(path)


@pytest.fixture(autouse=True)
def uncompiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The install is not compiled, and the cache is empty."""
    monkeypatch.setattr(uncompiled_notice, "is_compiled", lambda: False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def is_shown(*arguments: str, stream: io.StringIO | None = None) -> bool:
    """Whether a command shows the notice on `stream`, which is a terminal unless it is given."""
    parser, _ = build_parser(only=arguments[0])
    stream = Terminal() if stream is None else stream
    with contextlib.redirect_stderr(stream):
        show_uncompiled_notice(parser.parse_args(arguments))
    assert stream.getvalue() in ("", f"zenlake: {NOTICE}\n")
    return stream.getvalue() != ""


def test_notice_is_shown_once_per_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert is_shown("router")
    assert not is_shown("router")
    marker = tmp_path / "cache" / "zenlake" / f"uncompiled-notice-{zenlake.__version__}"
    assert marker.is_file()
    monkeypatch.setattr(uncompiled_notice, "__version__", "99.0")
    assert is_shown("router")


@pytest.mark.parametrize("command", ["decode", "check", "why"])
def test_notice_is_shown_for_large_captures_only(command: str, large: str, tmp_path: Path) -> None:
    small = tmp_path / "small.pcap"
    small.write_bytes(b"\0" * 100)
    assert not is_shown(command, str(small), "-", "/no/such/file", "\0")
    assert is_shown(command, str(small), large)


def test_notice_is_not_shown_by_other_commands_or_with_json(large: str) -> None:
    assert not is_shown("router", "--json")
    assert not is_shown("decode", "--json", large)
    assert not is_shown("router", "explain", "a/b")
    assert not is_shown("sql", large, "SELECT 1")
    assert not is_shown("report", large)
    assert is_shown("router")


def test_notice_is_not_shown_where_it_cannot_be_recorded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It would be shown each time."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert not is_shown("router")


def test_notice_is_not_shown_to_a_compiled_install_or_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as compiled:
        compiled.setattr(uncompiled_notice, "is_compiled", lambda: True)
        assert not is_shown("router")
    assert not is_shown("router", stream=io.StringIO())
    assert is_shown("router")


def test_process_shows_the_notice_on_a_terminal(large: str, tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    ours, theirs = pty.openpty()
    command = [*ZENLAKE, "decode", large]
    try:
        done = subprocess.run(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=theirs, timeout=30
        )
        os.close(theirs)
        text = os.read(ours, 10_000).decode()
    finally:
        os.close(ours)
    assert done.returncode == 2  # it is no capture
    assert text.startswith(f"zenlake: {NOTICE}\r\n") != is_compiled()
