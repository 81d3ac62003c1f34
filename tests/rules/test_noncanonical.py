"""Bytes with the same meaning that are not canonical."""

from __future__ import annotations

import pytest

from tests.paths import CAPTURES
from tests.trace.batches import batches_of, content_of
from zenlake.rules.noncanonical import (
    EMPTY_SUFFIX,
    OVERLONG,
    REPEATED,
    RESERVED,
    ZID_ZEROS,
    deviations,
)
from zenlake.wire.batch import decode_batch
from zenlake.wire.message import Message


@pytest.mark.parametrize(
    ("data", "kind", "words"),
    [
        ("65 64 7d 00 01 61 01 01 76", RESERVED, "FRAME, header: reserved bits 0x40 are set"),
        ("25 64 fd 00 01 61 21 4d 01 01 76", RESERVED, "PUSH, qos: reserved bits of 0x4d are set"),
        ("a5 64 31 09 7d 00 01 61 01 01 76", RESERVED, "FRAME, qos: reserved bits of 0x09 are set"),
        ("c1 09 02 05 1a ff ff 01", RESERVED, "INIT, resolution: reserved bits of 0x1a are set"),
        ("25 64 9e 21 08 c4 03 03 21 03", RESERVED, "D_QUERYABLE, info: reserved bits of 0x03"),
        ("25 e4 80 00 04", OVERLONG, "FRAME, sn: 100 is written in 3 bytes"),
        ("25 64 7d 00 81 00 61 01 01 76", OVERLONG, "PUSH, key_suffix: 1 is written in 2 bytes"),
        ("25 64 7d 00 01 61 01 81 00 76", OVERLONG, "PUT, payload: 1 is written in 2 bytes"),
        ("25 64 fd 00 01 61 21 8d 00 01 01 76", OVERLONG, "PUSH, qos: 13 is written in 2 bytes"),
        ("25 64 7d 00 01 61 41 88 00 01 76", OVERLONG, "PUT, encoding: 8 is written in 2 bytes"),
        ("25 64 fd 00 01 61 a1 0d 21 0d 01 01 76", REPEATED, "PUSH: extension qos comes 2 times"),
        ("25 64 7d 05 00 01 01 76", EMPTY_SUFFIX, "PUSH: the suffix is empty"),
        ("c1 09 12 05 00 0a ff ff 01", ZID_ZEROS, "INIT, zid: zeros at the high end of 5"),
    ],
)
def test_noncanonical_encoding_is_named(data: str, kind: str, words: str) -> None:
    content = bytes.fromhex(data)
    batch = decode_batch(content)
    assert batch.error is None
    found = deviations(content, list(batch.messages), "batch")
    assert found
    assert found[0].kind == kind
    assert found[0].text.startswith(words)


@pytest.mark.parametrize(
    "data",
    [
        "25 64 fd 00 01 61 a1 0d 33 02 01 01 76",
        "25 64 fd 00 01 61 b3 02 21 0d 01 01 76",  # extensions in another order
        "25 ff ff ff ff 0f 04",
    ],
)
def test_extensions_in_another_order_are_canonical(data: str) -> None:
    content = bytes.fromhex(data)
    assert not deviations(content, list(decode_batch(content).messages), "batch")


def test_low_latency_units_and_scouting_are_checked() -> None:
    from zenlake.wire import decode_scouting
    from zenlake.wire.batch import decode_low_latency

    content = bytes.fromhex("7d 00 01 61 01 81 00 76")
    messages: list[Message] = list(decode_low_latency(content).messages)
    assert [one.kind for one in deviations(content, messages, "low-latency")] == [OVERLONG]
    content = bytes.fromhex("41 09 07")
    message, _ = decode_scouting(content, 0)
    assert [one.kind for one in deviations(content, [message], "scouting")] == [RESERVED]


def test_messages_of_deployed_nodes_are_canonical() -> None:
    for batch in batches_of(CAPTURES / "queries.pcapng.gz"):
        assert not deviations(content_of(batch), batch.messages, "batch")
