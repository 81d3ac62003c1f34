"""Declarations with id 0 on both readers, and in the table on DuckDB."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.lake.merge.both_readers import differences, read_by_both_readers, read_by_exact_reader
from tests.trace.test_interest_answers import CASES, lifetimes, talk
from tests.why.bundled_stories import path_of
from zenlake.lake.fast_reader import Refusal, survey


@pytest.mark.parametrize("case", [*CASES, "old_tokens"])
def test_both_readers_recognise_an_answer(case: str, tmp_path: Path) -> None:
    path = tmp_path / "talk.pcapng"
    if case in CASES:
        talk(path, *CASES[case][0])
    else:
        path.write_bytes(gzip.decompress(Path(path_of(case)).read_bytes()))
    expected = read_by_exact_reader(str(path))
    found = survey(str(path))
    assert not isinstance(found, Refusal)
    assert found.regular.all()
    rows = expected["declare_events"]
    assert any(row["is_answer"] for row in rows) == any(one.is_answer for one in lifetimes(path))
    for chunk_bytes in (1 << 20, 100):
        assert (
            differences(expected, read_by_both_readers(str(path), found, chunk_bytes=chunk_bytes))
            == []
        )
