"""Weights of links: every router must compute the same bits (behaviour reference §4.7)."""

from __future__ import annotations

import pytest

from zenlake.routing.network.weights import EdgeHashes, edge_weight, sip_hash
from zenlake.wire import ZenohId


@pytest.mark.parametrize(
    ("zid", "other", "weight"),
    [
        ("a1", "b2", 100.52192227251872),
        ("b2", "c3", 100.22397104702516),
        ("a1", "c3", 100.0761500708936),
        # As numbers they are in the other order.
        (
            "5f42b447dce8432aee6dd8881fdee30b",
            "538d1006401a56023197c495d3dc1f30",
            100.86616065676002,
        ),
    ],
)
def test_weights_of_a_real_router(zid: str, other: str, weight: float) -> None:
    hashes = EdgeHashes()
    for one, two in ((zid, other), (other, zid)):
        hash = hashes.get(ZenohId.parse(one), ZenohId.parse(two))
        assert edge_weight(0, 0, hash) == weight


def test_greater_of_two_configured_weights_counts() -> None:
    assert edge_weight(0, 0, 0) == 100.0
    assert edge_weight(7, 0, 0) == edge_weight(0, 7, 0) == edge_weight(7, 3, 0) == 7.0
    assert edge_weight(50, 200, 0xFFFF_FFFF) == 202.0


def test_hash_of_every_length_differs() -> None:
    hashes = {sip_hash(bytes(length)) for length in range(33)}
    assert len(hashes) == 33
    assert all(hash < 1 << 64 for hash in hashes)
