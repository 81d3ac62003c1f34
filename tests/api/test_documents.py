"""The generated documents are up to date."""

from __future__ import annotations

import pytest

from tests.paths import DOCS
from zenlake.api.generate import documents


@pytest.mark.parametrize("name", documents())
def test_a_document_is_up_to_date(name: str) -> None:
    assert (DOCS / name).read_text("utf-8") == documents()[name], "run make generate"
