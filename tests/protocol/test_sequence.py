from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.protocol.handshakes import CLIENT, ROUTER
from zenlake.protocol.sequence import initial_sn, is_newer, next_sn, previous_sn

MASKS = (0x7F, 0x3FFF, 0x0FFF_FFFF, 0xFFFF_FFFF)


def test_where_a_real_node_starts() -> None:
    assert initial_sn(CLIENT, ROUTER, 0x0FFF_FFFF) == 267_564_560
    assert initial_sn(ROUTER, CLIENT, 0x0FFF_FFFF) == 160_267_807


@pytest.mark.parametrize("mask", MASKS)
def test_it_starts_inside_the_resolution(mask: int) -> None:
    assert initial_sn(CLIENT, ROUTER, mask) == 0x9FF2_B610 & mask


@pytest.mark.parametrize("mask", MASKS)
def test_numbers_turn(mask: int) -> None:
    assert next_sn(mask, mask) == 0
    assert previous_sn(0, mask) == mask
    assert next_sn(previous_sn(5, mask), mask) == 5


@pytest.mark.parametrize("mask", MASKS)
def test_half_the_circle_is_ahead(mask: int) -> None:
    half = mask >> 1
    for last in (0, 1, half, half + 1, mask):
        assert not is_newer(last, last, mask)
        assert is_newer(next_sn(last, mask), last, mask)
        assert is_newer((last + half) & mask, last, mask)
        assert not is_newer((last + half + 1) & mask, last, mask)
        assert not is_newer(previous_sn(last, mask), last, mask)


@given(st.sampled_from(MASKS), st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_never_newer_both_ways(mask: int, one: int, other: int) -> None:
    one, other = one & mask, other & mask
    assert not (is_newer(one, other, mask) and is_newer(other, one, mask))
