"""Refused and lost sessions, read by both readers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lake.merge.both_readers import differences, read_by_both_readers, read_by_exact_reader
from tests.trace.recorded_sessions import TRUTH, plain
from zenlake.lake.fast_reader import Refusal, survey


@pytest.mark.parametrize("name", sorted(TRUTH))
def test_both_readers_agree_on_session_ends(name: str, tmp_path: Path) -> None:
    path = plain(name, tmp_path)
    found = survey(path)
    assert not isinstance(found, Refusal)
    expected = read_by_exact_reader(path)
    assert differences(expected, read_by_both_readers(path, found)) == []
    assert differences(expected, read_by_both_readers(path, found, chunk_bytes=2_000)) == []
