"""Byte ranges of the buffer as an Arrow array."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from tests.chance import seeded
from zenlake.columnar.stretch_copies import copied_stretches


def test_copies_have_the_bytes_of_their_ranges() -> None:
    random = seeded()
    data = np.frombuffer(random.randbytes(5_000), np.uint8)
    ranges = [(random.randrange(4_000), random.randrange(1_000)) for _ in range(200)]
    present = [random.random() < 0.8 for _ in ranges]
    found = copied_stretches(
        data,
        np.array([start for start, _ in ranges], np.uint32),
        np.array([size for _, size in ranges], np.uint32),
        np.array(present),
    )
    assert found.type == pa.binary()
    assert found.to_pylist() == [
        data[start : start + size].tobytes() if is_there else None
        for (start, size), is_there in zip(ranges, present, strict=True)
    ]


@pytest.mark.parametrize("is_there", [True, False])
def test_empty_and_absent_ranges_differ(is_there: bool) -> None:
    nothing = np.zeros(2, np.uint32)
    found = copied_stretches(np.zeros(1, np.uint8), nothing, nothing, np.full(2, is_there))
    assert found.to_pylist() == [b"" if is_there else None] * 2
