"""These tests need what `pip install 'zenlake[lake]'` brings; some need Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.report.chromium import MISSING, PROGRAM, Chromium

collect_ignore_glob = [] if find_spec("duckdb") else ["test_*"]


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    """One for all tests of a process."""
    if PROGRAM is None:
        pytest.skip(MISSING)
    with Chromium(tmp_path_factory.mktemp("chromium")) as started:
        yield started


@pytest.fixture(scope="session")
def page_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")
