"""The prompt of zenlake sql: consecutive queries, errors and interrupts."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.child_process import child_environment
from tests.zenlake_process import ZENLAKE

pytest.importorskip("duckdb", reason="needs zenlake[sql]")

from tests.cli import sql_lake
from tests.trace.sidecar import PATHS
from zenlake.cli import sql_prompt
from zenlake.cli.main import main


class Terminal:
    """Typed lines; an exception stands for a key such as Ctrl-C."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *typed: str | type[BaseException]) -> None:
        self.prompts: list[str] = []
        self._typed: Iterator[str | type[BaseException]] = iter((*typed, EOFError))
        monkeypatch.setattr("builtins.input", self._input)
        for stream in (sys.stdin, sys.stdout):
            monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)

    def _input(self, prompt: str) -> str:
        self.prompts.append(prompt)
        typed = next(self._typed)
        if isinstance(typed, str):
            return typed
        raise typed


@pytest.fixture
def lake(tmp_path: Path) -> str:
    return str(sql_lake.make(tmp_path / "a.lake").directory)


def test_queries_one_after_the_other(
    lake: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = Terminal(
        monkeypatch,
        "SELECT count(*) AS n",
        "FROM samples;",
        "SELECT 'again' AS word",
        "",
        "",
        "help",
    )
    assert main(["sql", "--lake", lake]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "Tables: samples." in out
    assert "n\n-\n5\n" in out
    assert "word\n-----\nagain\n" in out
    assert "A query ends with ;" in out
    assert [prompt.strip() for prompt in terminal.prompts[:3]] == ["zenlake>", "->", "zenlake>"]


def test_mistakes_and_interrupts_do_not_end_it(
    lake: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Terminal(
        monkeypatch,
        "SELECT nothing FROM samples;",
        "DROP TABLE samples;",
        "SELECT half",
        KeyboardInterrupt,
        "SELECT 7 AS still_here;",
        "exit",
        "SELECT 8 AS too_late;",
    )
    assert main(["sql", "--lake", lake, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err.count("zenlake: SQL") == 2
    assert '{"still_here": 7}' in out
    assert "too_late" not in out


def test_an_interrupt_ends_the_query_that_runs(
    lake: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Terminal(monkeypatch, "SELECT 1;", "SELECT 2 AS next;")
    queries = []

    def form(*arguments: object) -> Iterator[str]:
        queries.append(1)
        if len(queries) == 1:
            raise KeyboardInterrupt
        yield "an answer"

    monkeypatch.setattr("zenlake.cli.sql.text_lines", form)
    assert main(["sql", "--lake", lake]) == 0
    out, err = capsys.readouterr()
    assert err == "zenlake: interrupted\n"
    assert "an answer\n" in out


def test_long_answers_are_cut(
    lake: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Terminal(monkeypatch, "SELECT range AS n FROM range(1000000);", "FROM range(200);")
    assert main(["sql", "--lake", lake, "--json"]) == 0
    out = capsys.readouterr().out
    assert out.count('{"n":') == sql_prompt.ROWS_MAX
    assert out.count("... more than 200 rows") == 1


def test_a_capture_is_queried_at_a_terminal() -> None:
    """The prompt runs in another process, at a real terminal."""
    near, far = pty.openpty()
    command = [*ZENLAKE, "sql", str(PATHS["alias_remapped"])]
    process = subprocess.Popen(
        command, env=child_environment(TERM="dumb"), stdin=far, stdout=far, stderr=far
    )
    os.close(far)
    try:
        os.write(near, b"SELECT 'rows: ' || (count(*) > 10) AS r FROM messages;\nexit\n")
        shown = b""
        while chunk := _read(near):
            shown += chunk
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.wait()
        os.close(near)
    assert b"Type help for help" in shown
    assert b"rows: true" in shown


def _read(descriptor: int) -> bytes:
    """Nothing when the other side is closed."""
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return b""


def test_without_a_terminal_the_query_is_read_from_standard_input(
    lake: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdin, "read", lambda: "SELECT 6 * 7 AS n", raising=False)
    assert main(["sql", "--lake", lake, "--json"]) == 0
    assert capsys.readouterr().out == '{"n": 42}\n'
