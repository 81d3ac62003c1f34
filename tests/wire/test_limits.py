"""Every limit the wire enforces: exactly at it accepted, one above refused, in both directions."""

from __future__ import annotations

import lz4.block
import pytest

from tests.vectors.vector import zid
from tests.wire.both_codecs import encode_with_both, message_of, outcome_of_class
from tests.wire.minimal_messages import with_chain
from tests.wire.written import vle
from zenlake.errors import LocalError, WireError
from zenlake.limits import (
    BATCH_BYTES_MAX,
    EXTENSIONS_PER_MESSAGE_MAX,
    LINK_STATES_PER_LIST_MAX,
    LINKS_PER_LINK_STATE_MAX,
    LOCATORS_PER_HELLO_MAX,
    LOW_LATENCY_UNIT_BYTES_MAX,
    TIMESTAMPS_PER_STACK_MAX,
)
from zenlake.wire import (
    Del,
    Extension,
    Hello,
    LinkState,
    LinkStateList,
    Message,
    Push,
    QoS,
    StampRecord,
    TimestampStack,
    WhatAmI,
    WireExpr,
    encode,
)
from zenlake.wire.compression import decompress_batch
from zenlake.wire.framing import StreamDeframer, frame_batch, frame_low_latency
from zenlake.wire.walk import encode_by_layout


def check_list(at_limit: Message, above: Message, bytes_above: bytes, limit: int) -> None:
    """The limit can be written and read; more can be neither written nor read."""
    name = type(at_limit).__name__
    data = encode_with_both(at_limit)
    assert message_of(outcome_of_class(data, name)) == at_limit
    with pytest.raises(LocalError, match=f"at most {limit} may be sent"):
        encode(above)
    outcome = outcome_of_class(bytes_above, name)
    assert getattr(outcome, "cause", "") == f"{limit + 1} items, at most {limit} are accepted"


def test_locators_of_a_hello() -> None:
    def hello(count: int) -> Hello:
        return Hello(WhatAmI.PEER, zid("a"), locators=("tcp/a",) * count)

    limit = LOCATORS_PER_HELLO_MAX
    above = bytes.fromhex("22 09 01 0a") + vle(limit + 1) + b"\x05tcp/a" * (limit + 1)
    check_list(hello(limit), hello(limit + 1), above, limit)


def test_locators_of_a_link_state() -> None:
    def state(count: int) -> LinkState:
        return LinkState(0, 0, (), locators=("tcp/a",) * count)

    limit = LOCATORS_PER_HELLO_MAX
    above = b"\x04\x00\x00" + vle(limit + 1) + b"\x05tcp/a" * (limit + 1) + b"\x00"
    check_list(state(limit), state(limit + 1), above, limit)


def test_link_states_of_a_list() -> None:
    def states(count: int) -> LinkStateList:
        return LinkStateList((LinkState(0, 0, ()),) * count)

    limit = LINK_STATES_PER_LIST_MAX
    above = vle(limit + 1) + b"\x00\x00\x00\x00" * (limit + 1)
    check_list(states(limit), states(limit + 1), above, limit)


def test_links_of_a_link_state() -> None:
    def state(count: int) -> LinkState:
        return LinkState(0, 0, (1,) * count, weights=(100,) * count)

    limit = LINKS_PER_LINK_STATE_MAX
    above = b"\x08\x00\x00" + vle(limit + 1) + b"\x01" * (limit + 1) + b"\x64" * (limit + 1)
    check_list(state(limit), state(limit + 1), above, limit)


def test_timestamps_of_a_stack() -> None:
    def stack(count: int) -> TimestampStack:
        return TimestampStack(7, (StampRecord(1, b""),) * count)

    limit = TIMESTAMPS_PER_STACK_MAX
    above = b"\x07" + vle(limit + 1) + b"\x01\x00" * (limit + 1)
    check_list(stack(limit), stack(limit + 1), above, limit)


def test_extensions_of_a_message() -> None:
    limit = EXTENSIONS_PER_MESSAGE_MAX
    at_limit = with_chain("Push", b"\x8e" * (limit - 1) + b"\x0e")
    message = message_of(outcome_of_class(at_limit, "Push"))
    assert encode_with_both(message) == at_limit
    above = outcome_of_class(with_chain("Push", b"\x8e" * limit + b"\x0e"), "Push")
    assert getattr(above, "cause", "") == f"more than {limit} extensions"
    with pytest.raises(LocalError, match=f"at most {limit} may be sent"):
        encode(Push(WireExpr(9), Del(), extensions=(Extension(0x0E),) * (limit + 1)))
    # Known ones count too: otherwise a message could be sent that no node accepts.
    beside_qos = Push(WireExpr(9), Del(), qos=QoS(8), extensions=(Extension(0x0E),) * limit)
    for encoder in (encode, encode_by_layout):
        with pytest.raises(LocalError, match=f"at most {limit} may be sent"):
            encoder(beside_qos)


def test_bytes_of_a_batch() -> None:
    content = b"\x04" * BATCH_BYTES_MAX
    assert StreamDeframer().receive(frame_batch(content)) == [content]
    with pytest.raises(LocalError):
        frame_batch(content + b"\x04")
    block = lz4.block.compress(content + b"\x04", store_size=False)
    with pytest.raises(WireError, match=f"at most {BATCH_BYTES_MAX} bytes"):
        decompress_batch(b"\x01" + block)


def test_bytes_of_a_low_latency_unit() -> None:
    content = b"\x04" * LOW_LATENCY_UNIT_BYTES_MAX
    deframer = StreamDeframer()
    deframer.switch_to_low_latency()
    assert deframer.receive(frame_low_latency(content)) == [content]
    with pytest.raises(LocalError):
        frame_low_latency(content + b"\x04")
    with pytest.raises(WireError, match=f"at most {LOW_LATENCY_UNIT_BYTES_MAX} are agreed"):
        deframer.receive((LOW_LATENCY_UNIT_BYTES_MAX + 1).to_bytes(4, "little"))
