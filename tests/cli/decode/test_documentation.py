"""The examples of docs/decode.md do what they show."""

from __future__ import annotations

import re
import shlex

import pytest

from tests.paths import DOCS, ROOT
from zenlake.cli.main import main
from zenlake.limits import EXPRESSION_CHARACTERS_MAX, EXPRESSION_DEPTH_MAX
from zenlake.trace.where import parse

TEXT = (DOCS / "decode.md").read_text()
EXAMPLES = re.findall(r"```\n\$ zenlake (.*?)\n(.*?)```", TEXT, re.DOTALL)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 5


@pytest.mark.parametrize(("command", "shown"), EXAMPLES)
def test_output_is_as_shown(
    command: str, shown: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to a line of three dots."""
    monkeypatch.chdir(ROOT)
    assert main(shlex.split(command)) == 0
    out = capsys.readouterr().out
    head, dots, _ = shown.partition("...\n")
    assert out.startswith(head) if dots else out == shown


def test_filters_are_filters() -> None:
    filters = re.findall(r"--where '(.*?)'", TEXT)
    assert len(filters) >= 7
    for expression in filters:
        parse(expression)


def test_documented_limits_are_those_in_force() -> None:
    said = f"at most {EXPRESSION_CHARACTERS_MAX:,} characters and {EXPRESSION_DEPTH_MAX} levels"
    assert said in TEXT
