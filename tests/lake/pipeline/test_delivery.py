"""Files of other tasks are copied to the disk of a worker without overwriting each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from zenlake.lake.address import Address
from zenlake.lake.pipeline import delivery


def test_files_of_two_tables_with_the_same_name_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def copied(source: Address, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / source.name
        target.write_text(str(source))
        return target

    monkeypatch.setattr(delivery, "fetch", copied)
    listed = [
        {"table": table, "path": f"s3://b/lake/_staging/run/{table}/1.parquet"}
        for table in ("messages", "exchange_events")
    ]
    found = delivery.fetched(listed, tmp_path)
    assert [Path(file["path"]).read_text() for file in found] == [file["path"] for file in listed]
