"""The examples of the tutorial and of the page of the format have the output shown there."""

from __future__ import annotations

import doctest
import os
import re
from typing import TYPE_CHECKING

import pytest

from tests.paths import DOCS, ROOT
from zenlake.lake.source.options import KNOWN

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.xdist_group("spark")


@pytest.mark.parametrize(("name", "examples"), [("tutorial-spark.md", 29), ("spark.md", 20)])
def test_every_example_runs(
    name: str, examples: int, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    # The working directory of workers is that of the Java process.
    document = (DOCS / name).read_text("utf-8")
    for path in ("tests/data", "README.md"):
        document = re.sub(rf'(?<="){path}', str(ROOT / path), document)
    known = {"__name__": "document", "spark": spark, "os": os}
    found = doctest.DocTestParser().get_doctest(document, known, name, None, 0)
    # A DataFrame is printed with an empty line after it.
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(found)
    assert runner.tries >= examples
    assert runner.failures == 0


def test_every_block_of_the_tutorial_is_an_example() -> None:
    document = (DOCS / "tutorial-spark.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", document, re.DOTALL)
    assert all(block.startswith(">>> ") for block in blocks)


def test_every_option_has_a_row_and_an_example() -> None:
    document = (DOCS / "spark.md").read_text("utf-8")
    rows = re.findall(r"^\| (`.*?) \|", document, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert set(KNOWN) <= named
    examples = " ".join(re.findall(r"^(?:>>>|\.\.\.) (.*)", document, re.MULTILINE))
    assert [name for name in KNOWN if not re.search(rf"\b{name}\b", examples)] == []
