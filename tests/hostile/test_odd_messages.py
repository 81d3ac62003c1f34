"""An invalid message affects no other: every command and every table has all other messages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.chance import IS_FULL
from tests.hostile.odd_messages import OddCapture, write_odd_capture
from zenlake.cli.main import main
from zenlake.lake import direct
from zenlake.lake.sql import on_duckdb

_MESSAGES = 100
_LAST_NS = (1 << 63) - 1
_TIMES = {"ordinary clock": (), "clock that jumps": (0, 1, _LAST_NS)}
_CASES = [
    pytest.param((seed, times), id=f"{name} {seed}")
    for name, times in _TIMES.items()
    for seed in range(40 if IS_FULL else 2)
]


@pytest.fixture(params=_CASES)
def odd(request: pytest.FixtureRequest, tmp_path: Path) -> OddCapture:
    seed, times = request.param
    return write_odd_capture(tmp_path / "odd.pcapng", seed, _MESSAGES, times)


def _ordinary(text: str) -> int:
    """The number of different ordinary publications in a text."""
    return len(set(re.findall(r"\bordinary/\d+\b", text)))


@pytest.mark.parametrize("flags", [[], ["--json"]], ids=["lines", "json"])
def test_decode_shows_all_other_messages(
    odd: OddCapture, flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["decode", *flags, str(odd.path)]) == 0
    assert _ordinary(capsys.readouterr().out) == odd.ordinary


def test_check_checks_all_other_messages(
    odd: OddCapture, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--json", str(odd.path)]) == 1
    assert '"rule"' in capsys.readouterr().out


@pytest.mark.parametrize("flags", [[], ["--key", "**"]], ids=["all", "every key"])
def test_why_ends_with_an_explanation(
    odd: OddCapture, flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["why", *flags, str(odd.path)]) in (0, 1)
    assert capsys.readouterr().out


def test_tables_have_all_other_messages(odd: OddCapture) -> None:
    sql = "SELECT count(DISTINCT key) FROM samples WHERE key LIKE 'ordinary/%'"
    with direct.read([str(odd.path)]) as tables:
        with on_duckdb.query(tables.snapshot(), sql) as result:
            assert list(result.rows) == [(odd.ordinary,)]
        # Derived tables must be readable as well.
        for table in ("queries", "interests", "declarations", "sessions", "violations"):
            with on_duckdb.query(tables.snapshot(), f"SELECT count(*) FROM {table}") as result:
                assert next(iter(result.rows))[0] > 0, table
