"""What is written from the lists and documents is fresh."""

from __future__ import annotations

from pathlib import Path

import pytest

from zenlake.semantics import generate


@pytest.mark.parametrize("path", generate.files(), ids=lambda path: path.name)
def test_generated_file_is_fresh(path: Path) -> None:
    assert path.read_text("utf-8") == generate.files()[path], "run `make generate`"
