from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.protocol.handshakes import CLIENT, ROUTER
from zenlake.wire.sequence import SN_MASKS as MASKS
from zenlake.wire.sequence import (
    advance_sn,
    initial_sn,
    is_ahead,
    is_newer,
    next_sn,
    previous_sn,
    sn_distance,
)


def test_initial_number_is_that_of_a_real_node() -> None:
    assert initial_sn(CLIENT, ROUTER, 0x0FFF_FFFF) == 267_564_560
    assert initial_sn(ROUTER, CLIENT, 0x0FFF_FFFF) == 160_267_807


@pytest.mark.parametrize("mask", MASKS)
def test_initial_number_is_inside_the_resolution(mask: int) -> None:
    assert initial_sn(CLIENT, ROUTER, mask) == 0x9FF2_B610 & mask


@pytest.mark.parametrize("mask", MASKS)
def test_numbers_wrap_around(mask: int) -> None:
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


@given(st.sampled_from(MASKS), st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_distance_leads_from_one_number_to_the_other(mask: int, last: int, sn: int) -> None:
    last, sn = last & mask, sn & mask
    distance = sn_distance(last, sn, mask)
    assert 0 <= distance <= mask
    assert advance_sn(last, distance, mask) == sn
    assert is_ahead(distance, mask) == is_newer(sn, last, mask)


def kernel_copy(name: str) -> Any:
    pytest.importorskip("pyarrow", reason="needs zenlake[sql]")
    from zenlake.lake.fast_reader.regularity import regularity_kernel

    found = getattr(regularity_kernel, name)
    return getattr(found, "py_func", found)  # a part of a kernel cannot be called from outside


@pytest.mark.parametrize("mask", MASKS)
def test_kernel_of_the_survey_compares_numbers_in_the_same_way(mask: int) -> None:
    distance_in_kernel, is_ahead_in_kernel = kernel_copy("sn_distance"), kernel_copy("is_ahead")
    half = mask >> 1
    edges = (0, 1, 2, half - 1, half, half + 1, half + 2, mask - 1, mask)
    for last, sn in product(edges, edges):
        distance = sn_distance(last, sn, mask)
        assert distance_in_kernel(last, sn, mask) == distance
        assert is_ahead_in_kernel(distance, mask) == is_ahead(distance, mask)
