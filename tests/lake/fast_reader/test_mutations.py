"""Both readers on damaged captures: the fast reader may refuse a pair, but must not differ."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.lake.fast_reader.comparison import compare
from tests.lake.fast_reader.mutations import load, mutated_bytes, mutated_packets, store
from tests.paths import CAPTURES
from zenlake.lake.fast_reader import Survey, survey

_STEMS = ("cooked_v1.pcap", "ipv6_router.pcapng", "pico_reopened.pcapng", "reconnect.pcapng")
_EACH = 60


@pytest.mark.parametrize("stem", _STEMS)
@pytest.mark.parametrize("of_bytes", [True, False], ids=["bytes", "packets"])
def test_readers_agree_after_mutations(of_bytes: bool, stem: str, tmp_path: Path) -> None:
    content, packets = (CAPTURES / stem).read_bytes(), load(CAPTURES / stem)
    path = tmp_path / stem
    regular = 0
    for seed in range(_EACH):
        if of_bytes:
            path.write_bytes(mutated_bytes(content, random.Random(seed)))
        else:
            store(path, mutated_packets(packets, random.Random(seed)))
        found = survey(str(path), chunk_bytes=random.Random(seed).choice((2_000, 1 << 20)))
        if isinstance(found, Survey):
            compare(str(path), found)
            regular += int(found.regular.sum())
    assert regular > _EACH // 4
