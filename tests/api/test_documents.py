"""The generated documents are up to date."""

from __future__ import annotations

from pathlib import Path

import pytest

from zenlake.api.generate import documents

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", documents())
def test_a_document_is_up_to_date(name: str) -> None:
    assert (DOCS / name).read_text("utf-8") == documents()[name], "run make generate"
