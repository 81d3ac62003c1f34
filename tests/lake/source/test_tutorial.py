"""The tutorial does what it shows."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.xdist_group("spark")

ROOT = Path(__file__).parents[3]


def test_every_example_runs(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    # The working directory of workers is that of the Java process.
    document = (ROOT / "docs" / "tutorial-spark.md").read_text("utf-8")
    examples = doctest.DocTestParser().get_doctest(
        document.replace("tests/data/captures", str(ROOT / "tests" / "data" / "captures")),
        {"__name__": "tutorial"},
        "tutorial-spark.md",
        None,
        0,
    )
    # A DataFrame is shown with an empty line after it.
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(examples)
    assert runner.tries >= 25
    assert runner.failures == 0
    blocks = re.findall(r"```python\n(.*?)```", document, re.DOTALL)
    assert all(block.startswith(">>> ") for block in blocks)
