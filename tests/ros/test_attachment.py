"""Attachments in all known layouts, and invalid ones."""

from __future__ import annotations

import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zenlake.ros.attachment import BRIDGE, NAMED, PLAIN, Attachment, read_attachment

GID = bytes(range(16))
INTEGERS = st.integers(-(1 << 63), (1 << 63) - 1)


def plain(number: int, time_ns: int, gid: bytes) -> bytes:
    return struct.pack("<qq", number, time_ns) + b"\x10" + gid


def named(number: int, time_ns: int, gid: bytes) -> bytes:
    """The older layout, with field names. A length precedes each string."""
    values = {
        b"sequence_number": struct.pack("<q", number),
        b"source_timestamp": struct.pack("<q", time_ns),
        b"source_gid": b"\x10" + gid,
    }
    return b"".join(bytes([len(name)]) + name + value for name, value in values.items())


@given(INTEGERS, INTEGERS, st.binary(min_size=16, max_size=16))
def test_both_layouts_of_rmw_zenoh_are_read(number: int, time_ns: int, gid: bytes) -> None:
    wanted = (number, time_ns, gid.hex(), None)
    assert read_attachment(plain(number, time_ns, gid)) == (PLAIN, *wanted)
    assert read_attachment(named(number, time_ns, gid)) == (NAMED, *wanted)


def test_attachments_have_the_documented_sizes() -> None:
    assert len(plain(1, 2, GID)) == 33
    assert len(named(1, 2, GID)) == 77


@pytest.mark.parametrize(("letter", "flag"), [("<", 1), (">", 0)])
def test_attachment_of_a_bridged_request_is_read(letter: str, flag: int) -> None:
    client = bytes(range(8))
    data = b"rqh" + client + struct.pack(f"{letter}q", 77) + bytes([flag])
    assert read_attachment(data) == Attachment(BRIDGE, 77, None, client.hex())


@pytest.mark.parametrize(
    ("data", "unread"),
    [
        (b"", "0 bytes in no known layout"),
        (plain(1, 2, GID)[:-1], "32 bytes in no known"),
        (plain(1, 2, GID).replace(b"\x10", b"\x11", 1), "33 bytes in no known"),
        (named(1, 2, GID)[:-1], "76 bytes with field names instead of 77"),
        (
            named(1, 2, GID).replace(b"source_gid", b"source_xid"),
            "field names that rmw_zenoh does not use",
        ),
        (b"rqh", "3 bytes in no known"),
    ],
)
def test_invalid_attachment_has_a_reason(data: bytes, unread: str) -> None:
    found = read_attachment(data)
    assert found[:4] == (None, None, None, None)
    assert unread in (found.unread or "")
    assert json.loads(found.to_json()) == {"unread": found.unread}


def test_json_has_only_the_known_fields() -> None:
    assert json.loads(read_attachment(plain(5, 6, GID)).to_json()) == {
        "layout": "rmw_zenoh",
        "sequence_number": 5,
        "source_ns": 6,
        "gid": GID.hex(),
    }


STARTS = st.sampled_from([b"", b"\x0fsequence_number", b"rqh"])


@given(STARTS, st.binary(max_size=90))
def test_any_bytes_have_values_or_a_reason(start: bytes, rest: bytes) -> None:
    found = read_attachment(start + rest)
    assert (found.layout is None) == (found.unread is not None)
    assert found.unread is not None or found.gid is not None
