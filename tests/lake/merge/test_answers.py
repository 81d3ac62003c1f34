"""Declarations with the number 0 on both roads, and the table on DuckDB."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.lake.merge.both_readers import differences, on_both_roads, on_scalar_road
from tests.trace.test_interest_answers import CASES, lives, talk
from tests.why.told import path_of
from zenlake.lake.fast_reader import Refusal, survey


@pytest.mark.parametrize("case", [*CASES, "old_tokens"])
def test_both_roads_know_an_answer(case: str, tmp_path: Path) -> None:
    path = tmp_path / "talk.pcapng"
    if case in CASES:
        talk(path, *CASES[case][0])
    else:
        path.write_bytes(gzip.decompress(Path(path_of(case)).read_bytes()))
    expected = on_scalar_road(str(path))
    found = survey(str(path))
    assert not isinstance(found, Refusal)
    assert found.regular.all()
    told = expected["declare_events"]
    assert any(row["is_answer"] for row in told) == any(life.is_answer for life in lives(path))
    for chunk_bytes in (1 << 20, 100):
        assert differences(expected, on_both_roads(str(path), found, chunk_bytes=chunk_bytes)) == []
