"""The counts of the sidecars, and the few bytes that are in no message."""

from __future__ import annotations

from collections import Counter

import dpkt
import pytest

from tests.capture.reference_streams import frames
from tests.trace.sidecar import PATHS, WITH_COUNTS, reading_of, sidecar_of
from zenlake.trace import Missing, Undecoded

LOSSY = ["impaired", "midstream", "snaplen"]
EXACT = [name for name in WITH_COUNTS if name not in (*LOSSY, "encrypted_links")]

UNDECODED = {
    "encrypted_links": {"encrypted": 26_928},
    "impaired": {"gap": 30_349},
    "pubsub_router": {"not_zenoh": 824},
    "snaplen": {"truncated": 3_145},
}
"""Bytes by state; in all other captures every byte belongs to a message."""

MISSING = {
    "impaired": {"tcp_gap": 5, "sn_gap": 2, "resync": 1},
    "pico_peers": {"sn_gap": 1},
    "snaplen": {"truncated": 57},
}
"""Reported losses; no other capture has any."""


def wire_counts(name: str) -> Counter[str]:
    counts = sidecar_of(name).wire_counts
    assert counts
    return counts


def test_captures_with_counts_are_complete() -> None:
    assert len(EXACT) == 13
    assert len(WITH_COUNTS) == 17


@pytest.mark.parametrize("name", EXACT)
def test_counts_are_those_of_the_sidecar(name: str) -> None:
    assert reading_of(name).counts == wire_counts(name)


def test_only_websocket_messages_are_missing_in_the_sidecar() -> None:
    reading = reading_of("encrypted_links")
    by_protocol = {
        protocol: Counter(
            event.kind for event in reading.messages if event.link.protocol == protocol
        )
        for protocol in ("tcp", "ws")
    }
    assert by_protocol["tcp"] == wire_counts("encrypted_links")
    assert reading.counts - by_protocol["tcp"] == by_protocol["ws"]
    assert by_protocol["ws"] == {
        **dict.fromkeys(("INIT_SYN", "INIT_ACK", "OPEN_SYN", "OPEN_ACK", "CLOSE"), 1),
        **dict.fromkeys(("DECLARE/D_KEYEXPR", "DECLARE/D_SUBSCRIBER"), 1),
        "FRAME": 35,
        "PUSH/PUT": 40,
    }


@pytest.mark.parametrize("name", LOSSY)
def test_lossy_captures_have_at_least_the_messages_of_another_decoder(name: str) -> None:
    found, wanted = reading_of(name).counts, wire_counts(name)
    assert not wanted - found


def test_impaired_has_all_messages_but_the_dropped_ones() -> None:
    """Three of the five batches with a missing packet still have the header of their FRAME."""
    capture = sidecar_of("impaired").capture
    before: Counter[str] = Counter(capture["wire_counts_before_edit"])
    dropped = Counter(
        f"{row['kind']}/{row['body']}" for row in capture["messages_in_dropped_packets"]
    )
    assert dropped == {"PUSH/PUT": 5}
    found = reading_of("impaired").counts
    assert before - found == dropped + Counter({"FRAME": 2})
    assert not found - before


def test_midstream_has_both_directions() -> None:
    """The answers to the INTEREST of the publisher, and the only message of the subscriber."""
    reading = reading_of("midstream")
    extra = ("DECLARE/D_SUBSCRIBER", "DECLARE/D_FINAL", "KEEP_ALIVE")
    surplus = reading.counts - wire_counts("midstream")
    assert surplus == {"FRAME": 2, **dict.fromkeys(extra, 1)}
    assert [(event.sender, event.receiver) for event in reading.of(*extra)] == [
        ("127.0.0.1:17185", "127.0.0.1:47574"),
        ("127.0.0.1:17185", "127.0.0.1:47574"),
        ("127.0.0.1:47578", "127.0.0.1:17185"),
    ]


def test_cut_packets_have_no_more_messages_than_were_sent() -> None:
    """Each of 60 puts crosses two links, in its own FRAME; all other messages are handshakes."""
    found = reading_of("snaplen").counts
    assert found - wire_counts("snaplen") == {
        "OPEN_ACK": 2,
        "FRAME": 71,
        "PUSH/PUT": 15,
        "CLOSE": 1,
        "DECLARE/D_SUBSCRIBER": 1,
        "DECLARE/D_FINAL": 1,
    }
    assert found["PUSH/PUT"] < found["FRAME"] <= 120 + 4
    assert "INIT_ACK" not in found


@pytest.mark.parametrize("name", PATHS)
def test_captured_data_is_not_reported_as_missing(name: str) -> None:
    events = [event for event in reading_of(name).events if isinstance(event, Missing)]
    assert Counter(event.kind for event in events) == MISSING.get(name, {})


@pytest.mark.parametrize("name", PATHS)
def test_every_byte_is_accounted_for(name: str) -> None:
    assert reading_of(name).undecoded == UNDECODED.get(name, {})


@pytest.mark.parametrize(
    ("name", "state", "ports"),
    [("encrypted_links", "encrypted", {17175, 17176}), ("pubsub_router", "not_zenoh", {17109})],
)
def test_undecoded_bytes_are_all_bytes_of_the_other_ports(
    name: str, state: str, ports: set[int]
) -> None:
    """Whole connections are counted to the byte (these captures have no packet twice)."""
    carried = 0
    for frame in frames(PATHS[name]):
        transport = dpkt.ethernet.Ethernet(frame).data.data
        if {transport.sport, transport.dport} & ports:
            carried += len(transport.data)
    assert carried == UNDECODED[name][state]
    found = [event for event in reading_of(name).events if isinstance(event, Undecoded)]
    assert {int(event.link.ends[1].rpartition(":")[2]) for event in found} == ports


def test_undecoded_bytes_beside_missing_packets_are_those_of_their_batches() -> None:
    """Four batches of 9000 bytes lack one packet each; the fifth was in one packet."""
    capture = sidecar_of("impaired").capture
    sizes = [row["payload"]["len"] for row in capture["messages_in_dropped_packets"]]
    dropped = [row["tcp_payload"] for row in capture["edits"]["dropped"]]
    rest = sum(size for size in sizes if size > 1_000) - sum(n for n in dropped if n > 1_000)
    headers = UNDECODED["impaired"]["gap"] - rest
    assert 0 <= headers < 4 * 48
