"""Sessions that were refused or lost, read as columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lake.merge.both_readers import differences, on_both_roads, on_scalar_road
from tests.trace.recorded_sessions import TRUTH, plain
from zenlake.lake.fast_reader import Refusal, survey


@pytest.mark.parametrize("name", sorted(TRUTH))
def test_both_roads_agree(name: str, tmp_path: Path) -> None:
    path = plain(name, tmp_path)
    found = survey(path)
    assert not isinstance(found, Refusal)
    expected = on_scalar_road(path)
    assert differences(expected, on_both_roads(path, found)) == []
    assert differences(expected, on_both_roads(path, found, chunk_bytes=2_000)) == []
