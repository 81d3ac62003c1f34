"""Both readers return the same rows of all tables, in chunks and splits of any size."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chance import IS_FULL
from tests.lake.fast_reader.captures import plain, surveyed
from tests.lake.fast_reader.mutations import mutations
from tests.lake.merge.both_readers import (
    assert_same_rows,
    differences,
    read_by_both_readers,
    read_by_exact_reader,
)
from tests.rules.odd_keys import odd_keys
from tests.trace.sidecar import PATHS
from zenlake.errors import CaptureError
from zenlake.lake.fast_reader import Refusal, survey

_ORDINARY = {"fragments", "liveliness", "metadata", "qos_matrix", "queries"}
_MUTATED = ("queries", "liveliness", "lowlatency", "routers_ring", "reconnect", "pico_clients")
_SEEDS = 400 if IS_FULL else 12


@pytest.mark.parametrize("name", sorted(PATHS))
def test_both_readers_return_the_same_rows_of_every_capture(name: str, tmp_path: Path) -> None:
    path = plain(PATHS[name], tmp_path)
    found = surveyed(path)
    if name in _ORDINARY:
        assert found.regular.all()
    assert_same_rows(path, found, {}, {"chunk_bytes": 2_000}, {"splits": 3})


def test_both_readers_return_the_same_rows_of_invalid_keys(tmp_path: Path) -> None:
    path = odd_keys(tmp_path / "odd.pcapng")
    assert_same_rows(path, surveyed(path))


@pytest.mark.parametrize("name", _MUTATED)
def test_both_readers_return_the_same_rows_of_mutated_captures(name: str, tmp_path: Path) -> None:
    original = Path(plain(PATHS[name], tmp_path))
    path = tmp_path / "changed.pcapng"
    regular = 0
    for seed, chance in mutations(original, path, _SEEDS):
        found = survey(str(path))
        if isinstance(found, Refusal) or not found.regular.any():
            continue
        regular += int(found.regular.sum())
        try:
            expected = read_by_exact_reader(str(path))
        except CaptureError:
            continue
        both = read_by_both_readers(str(path), found, splits=chance.choice((1, 2)))
        assert differences(expected, both) == [], f"seed {seed}"
    assert regular > _SEEDS
