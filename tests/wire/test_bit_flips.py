"""Every single bit of every vector, flipped: an error or a message, the same for both decoders."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

import pytest

from tests.vectors import ALL, LINK_STATES, UNITS, Vector
from tests.vectors.vector import LinkStateVector, Unit
from tests.wire.both_codecs import Failure, encode_with_both, outcome_of, outcome_of_both
from zenlake.errors import WireError
from zenlake.wire import Message, decode_batch, decode_link_states, decode_low_latency
from zenlake.wire.compression import decompress_batch
from zenlake.wire.walk import decode_structure_by_layout

# A decoder takes microseconds; this allows for a busy machine and still sees a hang.
SECONDS_MAX = 0.1


def flipped(data: bytes) -> Iterator[bytes]:
    for position in range(len(data)):
        for bit in range(8):
            yield data[:position] + bytes([data[position] ^ 1 << bit]) + data[position + 1 :]


@pytest.mark.parametrize("vector", ALL, ids=str)
def test_flipped_bit_is_an_error_or_a_message(vector: Vector) -> None:
    for data in flipped(vector.data):
        start = time.thread_time()
        outcome = outcome_of_both(data, vector.layer)
        assert time.thread_time() - start < SECONDS_MAX, data.hex(" ")
        if isinstance(outcome, Failure):
            assert 0 <= outcome.offset <= len(data)
        else:
            check_written_back(outcome[0], vector)


def check_written_back(message: Message, vector: Vector) -> None:
    """A decoded message can be encoded, and decodes to the same again."""
    data = encode_with_both(message)
    assert outcome_of_both(data, vector.layer) == (message, len(data))


@pytest.mark.parametrize("vector", LINK_STATES, ids=str)
def test_flipped_bit_in_link_states_is_the_same_for_both_decoders(vector: LinkStateVector) -> None:
    for data in flipped(vector.data):
        generated = outcome_of(partial(decode_link_states, data))
        by_layout = outcome_of(partial(decode_structure_by_layout, "LinkStateList", data))
        assert generated == by_layout


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_flip_in_a_transport_unit_keeps_the_messages_before(unit: Unit) -> None:
    """The error, if any, is within the bytes; messages before it are kept."""
    for data in flipped(unit.data):
        if unit.kind == "cbatch":
            try:
                data = decompress_batch(data)
            except WireError:
                continue
        error = decode_low_latency(data).error if unit.kind == "ll" else decode_batch(data).error
        assert error is None or 0 <= error.offset <= len(data)
