"""Captures with losses: all captured messages are found, and no others."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.trace.publications import (
    PUSHES,
    Publication,
    called,
    calls_of,
    counted,
    delivered,
    seen,
    sent_by,
)
from tests.trace.sidecar import CLOCK_SECONDS, Reading, Row, digest_in, reading_of, sidecar_of
from zenlake.trace import MessageSeen

MIDSTREAM = "midstream"


def pushed(reading: Reading, to_router: bool) -> list[MessageSeen]:
    """Publications to or from the router, identified by its listening port."""
    return [
        event for event in reading.of(*PUSHES) if event.receiver.endswith(":17185") == to_router
    ]


def test_impaired_has_all_messages_but_the_dropped_ones() -> None:
    sidecar, reading = sidecar_of("impaired"), reading_of("impaired")
    dropped = sidecar.capture["messages_in_dropped_packets"]
    assert {f"{row['kind']}/{row['body']}" for row in dropped} == {"PUSH/PUT"}
    router = sidecar.capture["ports"]["tcp"][0]
    sent = Counter(
        digest_in(row["payload"]) for row in dropped if not row["from"].endswith(f":{router}")
    )
    got = Counter(
        digest_in(row["payload"]) for row in dropped if row["from"].endswith(f":{router}")
    )
    assert (sent.total(), got.total()) == (2, 3)

    missing = calls_of(sidecar, "pub") - counted(sent_by(reading, sidecar.zids["pub"]))
    assert not counted(sent_by(reading, sidecar.zids["pub"])) - calls_of(sidecar, "pub")
    assert Counter(row.payload for row in missing.elements()) == sent

    samples = Counter(delivered(row) for row in sidecar.received)
    arrived = Counter(
        seen(event)._replace(reliability=None)
        for event in reading.of(*PUSHES)
        if event.receiver_zid == sidecar.zids["sub"]
    )
    assert not arrived - samples
    assert Counter(row.payload for row in (samples - arrived).elements()) == got


def test_all_messages_within_the_snap_length_are_found() -> None:
    """62 bytes of each packet are kept. Forwarded messages have a timestamp of 25 more bytes."""
    sidecar, reading = sidecar_of("snaplen"), reading_of("snaplen")
    sizes = {digest_in(row["payload"]): row["payload"]["len"] for row in sidecar.of("put")}
    calls = calls_of(sidecar, "pub")
    found = counted(sent_by(reading, sidecar.zids["pub"]))
    assert found == Counter(call for call in calls.elements() if sizes[call.payload] <= 30)
    assert 0 < found.total() < calls.total()

    samples = [delivered(row) for row in sidecar.received]
    arrived = Counter(
        seen(event)._replace(reliability=None)
        for event in reading.of(*PUSHES)
        if event.receiver_zid == sidecar.zids["sub"]
    )
    assert arrived == Counter(row for row in samples if sizes[row.payload] <= 10)
    assert 0 < arrived.total() < found.total()


def is_near_the_ends(row: Row, capture: Row) -> bool:
    """Whether a call is so near to the beginning or end that it may be outside the capture."""
    ends = (capture["first"], capture["last"])
    return any(abs(row["t"] - end) < CLOCK_SECONDS for end in ends)


def test_midstream_has_every_call_and_no_unknowable_key() -> None:
    """Alias 1 of the publisher was declared before the capture began."""
    sidecar, reading = sidecar_of(MIDSTREAM), reading_of(MIDSTREAM)
    puts = [row for row in sidecar.events if row["op"] == "put"]

    def known(row: Row) -> Publication:
        call = called(row)
        return call._replace(key=None) if call.key == "mid/pub/early" else call

    found = counted(pushed(reading, to_router=True))
    within = Counter(known(row) for row in puts if row["on_wire"] == "within")
    near = Counter(known(row) for row in puts if is_near_the_ends(row, sidecar.capture))
    assert within.total() == 470
    assert not within - found - near
    assert not found - within - near
    assert abs(found.total() - within.total()) <= 2
    assert sum(call.key is None for call in found.elements()) == 159


def test_midstream_has_every_sample_and_no_unknowable_key() -> None:
    """The router forwards with an alias that the subscriber declared before the capture."""
    sidecar, reading = sidecar_of(MIDSTREAM), reading_of(MIDSTREAM)
    found = Counter(
        seen(event)._replace(reliability=None) for event in pushed(reading, to_router=False)
    )
    rows = [(row, delivered(row)._replace(key=None)) for row in sidecar.received]
    within = Counter(sample for row, sample in rows if row["on_wire"] == "within")
    near = Counter(sample for row, sample in rows if is_near_the_ends(row, sidecar.capture))
    assert within.total() == 470
    assert not within - found - near
    assert not found - within - near
    assert abs(found.total() - within.total()) <= 2


@pytest.mark.parametrize("name", ["midstream", "snaplen", "impaired"])
def test_no_key_is_guessed(name: str) -> None:
    sidecar, reading = sidecar_of(name), reading_of(name)
    keys = {row["key"] for row in sidecar.events if "key" in row} | {None}
    # An alias may also be declared for the part of a key before its first wildcard.
    keys |= {key.removesuffix("/**") for key in keys if key is not None}
    found = [event.key for event in reading.messages]
    assert set(found) <= keys
    assert any(key is not None for key in found)
