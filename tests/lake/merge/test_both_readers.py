"""Both roads give the same rows of all tables, whatever the stretches and the splits."""

from __future__ import annotations

import gzip
import os
import random
from pathlib import Path

import pytest

from tests.lake.fast_reader.mutations import load, mutated_bytes, mutated_packets, store
from tests.lake.merge.both_readers import differences, on_both_roads, on_scalar_road
from tests.rules.odd_keys import odd_keys
from tests.trace.sidecar import PATHS
from zenlake.errors import CaptureError
from zenlake.lake.fast_reader import Refusal, Survey, survey

_ORDINARY = {"fragments", "liveliness", "metadata", "qos_matrix", "queries"}
_MUTATED = ("queries", "liveliness", "lowlatency", "routers_ring", "reconnect", "pico_clients")
_SEEDS = 400 if os.environ.get("ZENLAKE_FULL") else 12


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
def test_every_capture_gives_the_same_rows(name: str, tmp_path: Path) -> None:
    path = str(_plain(name, tmp_path))
    found = _survey(Path(path))
    if name in _ORDINARY:
        assert found.regular.all()
    expected = on_scalar_road(path)
    assert differences(expected, on_both_roads(path, found)) == []
    assert differences(expected, on_both_roads(path, found, chunk_bytes=2_000)) == []
    assert differences(expected, on_both_roads(path, found, splits=3)) == []


def test_keys_that_are_none_give_the_same_rows(tmp_path: Path) -> None:
    path = str(odd_keys(tmp_path / "odd.pcapng"))
    assert differences(on_scalar_road(path), on_both_roads(path, _survey(Path(path)))) == []


@pytest.mark.parametrize("name", _MUTATED)
def test_changed_captures_too(name: str, tmp_path: Path) -> None:
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
            expected = on_scalar_road(str(path))
        except CaptureError:
            continue
        both = on_both_roads(str(path), found, splits=chance.choice((1, 2)))
        assert differences(expected, both) == [], f"seed {seed}"
    assert regular > _SEEDS
