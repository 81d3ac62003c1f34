"""Low latency on the fast reader: longer lengths, and a second CLOSE that is not a message."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.lake.fast_reader.captures import plain, surveyed
from tests.lake.fast_reader.comparison import compare
from tests.lake.fast_reader.mutations import load, store
from tests.lake.fast_reader.segments import Segment
from tests.paths import CAPTURES
from zenlake.capture.packet import Packet
from zenlake.columnar.jit import NUMBA
from zenlake.lake.fast_reader import Survey, read
from zenlake.lake.fast_reader.assemble.batches import LAST_CLOSE
from zenlake.lake.fast_reader.assemble.low_latency import agrees_on_low_latency
from zenlake.wire import Init
from zenlake.wire.values.whatami import WhatAmI
from zenlake.wire.values.zenoh_id import ZenohId

FAREWELL_BYTES = bytes.fromhex("02000300")


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    return Path(plain(CAPTURES / "lowlatency.pcapng.gz", tmp_path))


def farewells(path: Path, found: Survey) -> list[tuple[int, bytes]]:
    """The last CLOSE of each connection, with the number of its packet."""
    return [
        (int(chunk.units.packet[unit]), chunk.units.content(unit))
        for chunk in read(str(path), found, found.regular)
        for unit in np.flatnonzero(chunk.units.form == LAST_CLOSE).tolist()
    ]


def test_low_latency_pairs_are_regular(capture: Path) -> None:
    found = surveyed(capture)
    assert found.regular.all()
    assert [content for _, content in farewells(capture, found)] == [FAREWELL_BYTES[2:]] * 4


def test_segments_of_one_byte_have_the_same_result(capture: Path, tmp_path: Path) -> None:
    whole = surveyed(capture)
    path = tmp_path / "bytes.pcapng"
    parts: list[Packet] = []
    for packet in load(capture):
        segment = Segment(packet)
        payload = segment.payload
        if not 1 < len(payload) < 100:
            parts.append(packet)
            continue
        if payload[2:3] and payload[2] & 0x1F == 1:
            parts.append(packet)  # an INIT must be in one segment
            continue
        parts += [
            segment.changed(segment.seq + at, payload=payload[at : at + 1])
            for at in range(len(payload))
        ]
    store(path, parts)
    found = surveyed(path)
    assert found.regular.all()
    assert compare(str(path), found) == compare(str(capture), whole) > 150
    assert len(farewells(path, found)) == 4


@pytest.mark.parametrize(
    "last",
    [
        *("0200030000", "02000400", "0300030000", "02001300", "ffff0000"),
        *("0000000004", "0000010000", "02000301", "02002305", "020003000200030002"),
    ],
)
def test_readers_agree_on_other_ends_of_a_connection(
    capture: Path, tmp_path: Path, last: str
) -> None:
    """Or the pair is irregular, so that the exact reader reads it."""
    packets = load(capture)
    place = farewells(capture, surveyed(capture))[0][0] - 1
    farewell = Segment(packets[place])
    assert farewell.payload == FAREWELL_BYTES
    packets[place] = farewell.changed(payload=bytes.fromhex(last))
    path = tmp_path / "other.pcapng"
    store(path, packets)
    found = surveyed(path)
    compare(str(path), found)
    assert found.regular.all() == (last in ("02000301", "02002305"))


def test_low_latency_is_found_in_an_init() -> None:
    chance = random.Random(1)
    for _ in range(2_000):
        init = Init(
            whatami=chance.choice(list(WhatAmI)),
            zid=ZenohId(chance.randbytes(chance.randrange(1, 16)) + b"\1"),
            cookie=chance.choice((None, chance.randbytes(chance.randrange(200)))),
            qos=chance.random() < 0.5,
            multilink=chance.choice((None, chance.randbytes(chance.randrange(150)))),
            lowlatency=chance.random() < 0.5,
            compression=chance.random() < 0.5,
            patch=chance.choice((None, 1)),
        )
        content = bytes(init)
        data = np.array(list(b"before" + content + b"\x05\x05"), np.uint8)
        begin, stop = 6, 6 + len(content)
        assert _agrees(data, begin, stop) == init.lowlatency
        changed = data.copy()
        changed[chance.randrange(begin, stop)] = chance.randrange(256)
        # The result does not matter; the kernel must not read outside.
        assert _agrees(changed[:stop], begin, stop) in (False, True)


def _look(data: Any, begin: int, stop: int) -> bool:
    return agrees_on_low_latency(data, begin, stop)


# Parts of kernels are called by compiled functions only.
_compiled: Any = _look if NUMBA is None else NUMBA.njit(_look)


def _agrees(data: Any, begin: int, stop: int) -> bool:
    return bool(_compiled(data, begin, stop))
