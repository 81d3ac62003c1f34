"""Steps run on DuckDB here; `tests/lake/contents/test_derive.py` runs them on Spark as well."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from zenlake.lake.derive.duck import Engine


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine(tmp_path_factory.mktemp("engine")) as opened:
        yield opened
