"""The examples of the documentation do what they show."""

from __future__ import annotations

import doctest
from pathlib import Path

DOCUMENT = Path(__file__).parents[2] / "docs" / "key-expressions.md"


def test_examples_run() -> None:
    result = doctest.testfile(str(DOCUMENT), module_relative=False, encoding="utf-8")
    assert result.attempted > 30
    assert result.failed == 0
