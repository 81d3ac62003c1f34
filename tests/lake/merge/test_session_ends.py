"""Refused and lost sessions, read by both readers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lake.fast_reader.captures import plain, surveyed
from tests.lake.merge.both_readers import assert_same_rows
from tests.trace.recorded_sessions import TRUTH, path_of


@pytest.mark.parametrize("name", sorted(TRUTH))
def test_both_readers_agree_on_session_ends(name: str, tmp_path: Path) -> None:
    path = plain(path_of(name), tmp_path)
    assert_same_rows(path, surveyed(path), {}, {"chunk_bytes": 2_000})
