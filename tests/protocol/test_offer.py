from __future__ import annotations

import pytest

from tests.protocol.handshakes import CLIENT, client_offer
from zenlake.errors import LocalError
from zenlake.limits import BATCH_BYTES_MAX, MESSAGE_BYTES_MAX
from zenlake.protocol.offer import BATCH_BYTES_MIN, Agreed
from zenlake.wire import Resolution, WhatAmI


@pytest.mark.parametrize(
    "options",
    [
        {"low_latency": True},
        {"batch_size": BATCH_BYTES_MIN - 1},
        {"batch_size": BATCH_BYTES_MAX + 1},
        {"user": "a"},
        {"password": "a"},
        {"lease_ms": 0},
        {"keep_alive": 0},
    ],
    ids=str,
)
def test_invalid_offer_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(LocalError):
        client_offer(**options)


@pytest.mark.parametrize(
    "options",
    [
        {"batch_size": BATCH_BYTES_MIN},
        {"batch_size": BATCH_BYTES_MAX},
        {"lease_ms": 1, "keep_alive": 1},
    ],
    ids=str,
)
def test_smallest_and_largest_values_are_accepted(options: dict[str, int]) -> None:
    offer = client_offer(**options)
    assert {name: getattr(offer, name) for name in options} == options


def test_default_offer_has_the_defaults_of_deployed_nodes() -> None:
    offer = client_offer()
    assert (offer.resolution, offer.batch_size) == (Resolution(0x0A), 65_535)
    assert (offer.lease_ms, offer.keep_alive, offer.patch) == (10_000, 4, 1)
    assert (offer.qos, offer.low_latency, offer.compression) == (True, False, False)
    assert offer.message_bytes_max == MESSAGE_BYTES_MAX


def test_derived_values_of_agreed_terms() -> None:
    agreed = Agreed(CLIENT, WhatAmI.CLIENT, resolution=Resolution(0x01), batch_size=1000)
    assert (agreed.sn_mask, agreed.queue_bytes) == (0x3FFF, [2000] * 8)


def test_low_latency_excludes_compression() -> None:
    agreed = Agreed(CLIENT, WhatAmI.CLIENT, qos=False, low_latency=True, compression=True)
    assert not agreed.compression
