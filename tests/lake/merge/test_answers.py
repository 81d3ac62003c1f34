"""Declarations with id 0 on both readers, and in the table on DuckDB."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.lake.fast_reader.captures import surveyed
from tests.lake.merge.both_readers import assert_same_rows
from tests.trace.test_interest_answers import CASES, lifetimes, talk
from tests.why.bundled_stories import path_of


@pytest.mark.parametrize("case", [*CASES, "old_tokens"])
def test_both_readers_recognise_an_answer(case: str, tmp_path: Path) -> None:
    path = tmp_path / "talk.pcapng"
    if case in CASES:
        talk(path, *CASES[case][0])
    else:
        path.write_bytes(gzip.decompress(Path(path_of(case)).read_bytes()))
    found = surveyed(path)
    assert found.regular.all()
    rows = assert_same_rows(path, found, {"chunk_bytes": 1 << 20}, {"chunk_bytes": 100})
    assert any(row["is_answer"] for row in rows["declare_events"]) == any(
        one.is_answer for one in lifetimes(path)
    )
