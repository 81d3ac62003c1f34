"""Every beginning of every vector: an error or a value, and no memory allocated in advance."""

from __future__ import annotations

import tracemalloc

import pytest

from tests.measuring import traced_memory
from tests.vectors import ALL, UNITS, Vector
from tests.vectors.vector import Unit
from tests.wire.both_codecs import Failure, decode_generated, outcome_generated, outcome_of_both
from zenlake.errors import WireError
from zenlake.wire import Push, Put, WireExpr, decode, decode_batch, decode_low_latency, encode
from zenlake.wire.compression import decompress_batch

ENDS = "the bytes end inside this field"


@pytest.mark.parametrize("vector", ALL, ids=str)
def test_prefix_is_an_error_or_another_message(vector: Vector) -> None:
    for size in range(len(vector.data)):
        outcome = outcome_of_both(vector.data[:size], vector.layer)
        if isinstance(outcome, Failure):
            assert 0 <= outcome.offset <= size
        else:
            assert outcome[0] != vector.message


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_prefix_of_a_transport_unit_is_an_error_within_its_bytes(unit: Unit) -> None:
    for size in range(len(unit.data)):
        data = unit.data[:size]
        if unit.kind == "cbatch":
            try:
                data = decompress_batch(data)
            except WireError:
                continue
        result = decode_low_latency(data) if unit.kind == "ll" else decode_batch(data)
        assert result.error is None or 0 <= result.error.offset <= len(data)


def test_cut_inside_a_field_names_the_field() -> None:
    cases = {
        "7d": ("PUSH", "key_scope", 1, ENDS),
        "7d 80": ("PUSH", "key_scope", 1, ENDS),
        "7d 00": ("PUSH", "key_suffix", 2, ENDS),
        "7d 00 06 64 65": ("PUSH", "key_suffix", 2, "it claims 6 bytes, 2 are left"),
        "fd 00 01 61": ("PUSH", "extensions", 4, ENDS),
        "fd 00 01 61 21": ("PUSH", "qos", 4, ENDS),
        "7d 00 01 61": ("PUSH", "body", 4, ENDS),
        "7d 00 01 61 01": ("PUT", "payload", 5, ENDS),
        "7d 00 01 61 01 80": ("PUT", "payload", 5, ENDS),
        "7d 00 01 61 21 ff": ("PUT", "timestamp", 5, ENDS),
        "7d 00 01 61 21 07 02 aa": ("PUT", "timestamp", 5, ENDS),
        "5d 09 81 41 02 00": ("PUT", "source_info", 3, "it claims 2 bytes, 1 are left"),
        "5d 09 81 41 01 00 01 31": ("SourceInfo", "zid", 6, ENDS),
    }
    for hex, expected in cases.items():
        with pytest.raises(WireError) as caught:
            decode(bytes.fromhex(hex), "network")
        error = caught.value
        assert (error.message, error.field, error.offset, error.cause) == expected, hex


def test_empty_input_is_an_error_on_every_layer() -> None:
    for layer in ("scouting", "transport", "network"):
        with pytest.raises(WireError, match="there are no bytes"):
            decode(b"", layer)


def test_truncated_megabyte_allocates_at_most_twice_its_size() -> None:
    whole = encode(Push(WireExpr(0, "a"), Put(b"x" * 1_000_000, attachment=b"y" * 1_000_000)))
    for size in (len(whole) - 1, 1_100_000, 500_000, 20):
        data = whole[:size]
        assert isinstance(outcome_generated(data, "network"), Failure)
        assert peak_bytes(data) < 2 * size + 16_384


def peak_bytes(data: bytes) -> int:
    """The most memory that decoding a bad message took at one time."""
    with traced_memory():
        with pytest.raises(WireError):
            decode_generated(data, "network")
        return tracemalloc.get_traced_memory()[1]
