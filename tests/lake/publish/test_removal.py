"""Removal of captures from files that several captures share."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.lake.publish.small_lake import ROWS, publish, remove
from zenlake.lake.address import Address
from zenlake.lake.publish import Store, removal


def test_files_of_different_tables_are_copied_to_different_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task uses the same name for its files of all tables, and tables are changed in parallel."""
    fetched: list[tuple[str, Path]] = []

    def fetch(source: Address, folder: Path) -> Path:
        fetched.append((source.name, folder))
        return Path(source.path)

    store = Store(tmp_path)
    publish(store, "a", "b")
    monkeypatch.setattr(removal, "fetch", fetch)
    remove(store, "a")
    names = Counter(name for name, _ in fetched)
    assert max(names.values()) == len(ROWS)
    assert len(set(fetched)) == len(fetched)
