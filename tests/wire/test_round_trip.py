"""Any message is the same after encoding and decoding, with both codecs."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

from tests.chance import IS_FULL
from tests.wire.both_codecs import Failure, encode_with_both, outcome_of_both, outcome_of_class
from zenlake.testing.strategies import message, messages
from zenlake.wire import Layer, encode
from zenlake.wire.definitions import LAYOUTS

EXAMPLES = 10_000 if IS_FULL else 40
MUTATIONS = 10
LAYERS: tuple[Layer, ...] = ("scouting", "transport", "network")


def checked(examples: int) -> settings:
    """Settings of Hypothesis: the number of examples, and no warnings about large messages."""
    unwanted = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
    return settings(max_examples=examples, suppress_health_check=unwanted)


@pytest.mark.parametrize("name", LAYOUTS)
@checked(EXAMPLES)
@given(data=st.data())
def test_message_round_trips(name: str, data: DataObject) -> None:
    original = data.draw(message(name))
    written = encode_with_both(original)
    assert outcome_of_class(written, name) == (original, len(written))
    read = outcome_of_class(written, name)
    assert not isinstance(read, Failure)
    assert encode(read[0]) == written
    assert hash(read[0]) == hash(original)
    assert repr(read[0]) == repr(original)


def mutated(data: bytes, source: random.Random) -> bytes:
    """A few bytes changed, lost, doubled or put in."""
    out = bytearray(data)
    for _ in range(source.randint(1, 3)):
        at = source.randrange(len(out)) if out else 0
        match source.randrange(5):
            case 0:
                out[at : at + 1] = bytes([source.randrange(256)])
            case 1:
                del out[at : at + source.randint(1, 4)]
            case 2:
                out[at:at] = out[at : at + source.randint(1, 8)]
            case 3:
                out[at:at] = source.choice((b"\x00", b"\x80", b"\xff" * 9, b"\x80" * 8 + b"\x00"))
            case _:
                out[at : at + 1] = bytes([out[at] ^ 1 << source.randrange(8)] if out else b"")
    return bytes(out)


@pytest.mark.parametrize("layer", LAYERS)
@checked(50_000 // MUTATIONS if IS_FULL else 100)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_mutated_messages_are_the_same_for_both_decoders(
    layer: Layer, data: DataObject, seed: int
) -> None:
    written = encode(data.draw(messages(layer)))
    source = random.Random(seed)
    for _ in range(MUTATIONS):
        outcome = outcome_of_both(mutated(written, source), layer)
        if not isinstance(outcome, Failure):
            again = encode_with_both(outcome[0])
            assert outcome_of_both(again, layer) == (outcome[0], len(again))


@pytest.mark.parametrize("layer", LAYERS)
@checked(50_000 if IS_FULL else 300)
@given(data=st.binary(max_size=60), id=st.integers(0, 255))
def test_noise_is_the_same_for_both_decoders(layer: Layer, data: bytes, id: int) -> None:
    outcome_of_both(bytes([id]) + data, layer)
