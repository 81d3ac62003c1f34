"""Both readers return the same rows of all tables, in chunks and splits of any size."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from tests.chance import IS_FULL
from tests.lake.fast_reader.mutations import load, mutated_bytes, mutated_packets, store
from tests.lake.merge.both_readers import differences, read_by_both_readers, read_by_exact_reader
from tests.rules.odd_keys import odd_keys
from tests.trace.sidecar import PATHS
from zenlake.errors import CaptureError
from zenlake.lake.fast_reader import Refusal, Survey, survey

_ORDINARY = {"fragments", "liveliness", "metadata", "qos_matrix", "queries"}
_MUTATED = ("queries", "liveliness", "lowlatency", "routers_ring", "reconnect", "pico_clients")
_SEEDS = 400 if IS_FULL else 12


def _plain(name: str, folder: Path) -> Path:
    path = PATHS[name]
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    place = folder / path.name.removesuffix(".gz")
    place.write_bytes(content)
    return place


def _survey(path: Path) -> Survey:
    found = survey(str(path))
    assert not isinstance(found, Refusal), found
    return found


@pytest.mark.parametrize("name", sorted(PATHS))
def test_both_readers_return_the_same_rows_of_every_capture(name: str, tmp_path: Path) -> None:
    path = str(_plain(name, tmp_path))
    found = _survey(Path(path))
    if name in _ORDINARY:
        assert found.regular.all()
    expected = read_by_exact_reader(path)
    assert differences(expected, read_by_both_readers(path, found)) == []
    assert differences(expected, read_by_both_readers(path, found, chunk_bytes=2_000)) == []
    assert differences(expected, read_by_both_readers(path, found, splits=3)) == []


def test_both_readers_return_the_same_rows_of_invalid_keys(tmp_path: Path) -> None:
    path = str(odd_keys(tmp_path / "odd.pcapng"))
    assert (
        differences(read_by_exact_reader(path), read_by_both_readers(path, _survey(Path(path))))
        == []
    )


@pytest.mark.parametrize("name", _MUTATED)
def test_both_readers_return_the_same_rows_of_mutated_captures(name: str, tmp_path: Path) -> None:
    original = _plain(name, tmp_path)
    content, packets = original.read_bytes(), load(original)
    path = tmp_path / "changed.pcapng"
    regular = 0
    for seed in range(_SEEDS):
        chance = random.Random(seed)
        if seed % 2:
            path.write_bytes(mutated_bytes(content, chance))
        else:
            store(path, mutated_packets(packets, chance))
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
