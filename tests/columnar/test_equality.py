"""Columns equal the scalar decoder, row by row; `gate.py` compares a million units."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.chance import scaled
from tests.columnar.comparison import compare
from tests.columnar.inputs import (
    capture_inputs,
    capture_paths,
    drawn_inputs,
    mutated,
    vector_inputs,
)
from zenlake.columnar import BATCH, LOW_LATENCY, NETWORK, SCOUTING, decoding
from zenlake.columnar.jit import IS_COMPILED

# Plain kernels take ten times as long.
MUTATIONS = scaled(6_000, 200_000) // (1 if IS_COMPILED else 10)
FORMS = (BATCH, LOW_LATENCY, SCOUTING, NETWORK)


@pytest.mark.parametrize("path", capture_paths(), ids=lambda path: path.name)
def test_batches_of_captures_are_decoded_alike(path: Path) -> None:
    inputs = capture_inputs(path)
    if inputs:
        assert compare(inputs) > 0


def test_vectors_cut_at_every_byte() -> None:
    for content, form in vector_inputs():
        compare([(content[:size], form) for size in range(len(content) + 1)])


def test_vectors_with_every_bit_flipped() -> None:
    for content, form in vector_inputs():
        flips = []
        for at in range(len(content)):
            for bit in range(8):
                changed = bytes([content[at] ^ 1 << bit])
                flips.append((content[:at] + changed + content[at + 1 :], form))
        compare(flips)


def test_mutated_units_are_decoded_alike() -> None:
    seeds = vector_inputs() + drawn_inputs(500)
    compare(seeds)
    source = mutated(seeds, MUTATIONS, seed=1)
    while inputs := list(islice(source, 1_000)):
        compare(inputs)


@given(st.lists(st.tuples(st.binary(max_size=60), st.sampled_from(FORMS)), max_size=8))
def test_any_bytes_are_decoded_alike(inputs: list[tuple[bytes, int]]) -> None:
    compare(inputs)


@pytest.mark.parametrize("last", [0x00, 0x01, 0x7F, 0x80, 0xFF])
def test_numbers_of_nine_bytes_anywhere(last: int) -> None:
    """Lengths, counts and values up to and above 2**63, in place of every byte."""
    number = b"\xff" * 8 + bytes([last])
    zero = b"\x80" * 8 + bytes([last])
    for content, form in vector_inputs():
        compare(
            [
                (content[:place] + put + content[place + 1 :], form)
                for place in range(len(content))
                for put in (number, zero)
            ]
        )


def test_more_rows_than_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    """One-byte messages make the table grow, in the middle of units too."""
    units = [(b"\x04" * 5_000, BATCH), (b"\x25\x01" * 3_000, BATCH), (b"\x04" * 9 + b"\xff", BATCH)]
    assert compare(units) == 8_009
    # The table is small: it grows often, also after a unit from which the rows are estimated.
    monkeypatch.setattr(decoding, "_FIRST_ROWS", 1)
    assert compare(units[::-1]) == 8_009
