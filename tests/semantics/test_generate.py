"""Files generated from the lists and documents are up to date."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.paths import ROOT
from zenlake.semantics import generate

FILES = generate.files(ROOT)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_generated_file_is_up_to_date(path: Path) -> None:
    assert path.read_text("utf-8") == FILES[path], "run `make generate`"
