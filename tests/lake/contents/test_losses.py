"""`losses`: what the sidecars record as dropped or cut; no other capture has any."""

from __future__ import annotations

import gzip
import struct
from collections import Counter

import pytest

from tests.lake.contents.publications import arrived, counted, publication
from tests.lake.contents.tables import Row, Tables
from tests.trace.publications import Publication, called, calls_of, delivered
from tests.trace.sidecar import PATHS, digest_in, sidecar_of
from tests.trace.test_contents_lossy import is_near_the_ends
from tests.trace.test_counts import MISSING


@pytest.mark.parametrize("name", PATHS)
def test_complete_captures_have_no_losses(tables: Tables, name: str) -> None:
    rows = tables.of(name, "losses")
    assert Counter(row["kind"] for row in rows) == MISSING.get(name, {})
    assert all(row["cause"] for row in rows)


# --- impaired ----------------------------------------------------------------------------


def test_gaps_are_the_dropped_packets(tables: Tables) -> None:
    """Each gap has the link, sender and size of its dropped packet."""
    sidecar = sidecar_of("impaired")
    zids = {row["connection"]: row["zids"][0] for row in sidecar.connections}
    router = f":{sidecar.capture['ports']['tcp'][0]}"
    wanted: Counter[tuple[str, str, int]] = Counter()
    edits, dropped = sidecar.capture["edits"], sidecar.capture["messages_in_dropped_packets"]
    assert len(edits["dropped"]) == len(dropped) == 5
    for packet, message in zip(edits["dropped"], dropped, strict=True):
        link = message["conn"]
        sender = sidecar.zids["router"] if message["from"].endswith(router) else zids[link]
        wanted[link, sender, packet["tcp_payload"]] += 1
    rows = [row for row in tables.of("impaired", "losses") if row["kind"] == "tcp_gap"]
    assert Counter((row["link"], row["sender_zid"], row["bytes"]) for row in rows) == wanted


def test_missing_sequence_numbers_are_those_of_the_dropped_messages(tables: Tables) -> None:
    """Three of the messages were captured in part, so their sequence numbers are not missing."""
    dropped = sidecar_of("impaired").capture["messages_in_dropped_packets"]
    messages = tables.of("impaired", "messages")
    missing = set()
    for link, sender in {(row["link"], row["sender_zid"]) for row in messages}:
        numbers: dict[str, set[int]] = {"FRAME": set(), "PUSH/PUT": set()}
        for row in messages:
            if (row["link"], row["sender_zid"]) == (link, sender) and row["kind"] in numbers:
                numbers[row["kind"]].add(row["sn"])
        pushed = numbers["PUSH/PUT"]
        if len(pushed) > 1:
            missing |= {(link, sn) for sn in {*range(min(pushed), max(pushed))} - pushed}
    assert missing == {(row["conn"], row["sn"]) for row in dropped}
    gaps = [row for row in tables.of("impaired", "losses") if row["kind"] == "sn_gap"]
    assert [(row["count"], row["priority"], row["reliability"]) for row in gaps] == [
        (1, 5, "reliable")
    ] * 2


def test_impaired_has_all_samples_but_the_dropped_ones(tables: Tables) -> None:
    sidecar = sidecar_of("impaired")
    dropped = sidecar.capture["messages_in_dropped_packets"]
    router = f":{sidecar.capture['ports']['tcp'][0]}"
    lost = {
        is_passed_on: Counter(
            digest_in(row["payload"])
            for row in dropped
            if row["from"].endswith(router) == is_passed_on
        )
        for is_passed_on in (False, True)
    }
    rows = tables.samples("impaired")
    sent = counted(row for row in rows if row["sender_zid"] == sidecar.zids["pub"])
    calls = calls_of(sidecar, "pub")
    assert not sent - calls
    assert Counter(row.payload for row in (calls - sent).elements()) == lost[False]
    got = Counter(arrived(row) for row in rows if row["receiver_zid"] == sidecar.zids["sub"])
    samples = Counter(map(delivered, sidecar.received))
    assert not got - samples
    assert Counter(row.payload for row in (samples - got).elements()) == lost[True]


# --- snaplen -----------------------------------------------------------------------------


def cut_packets() -> dict[int, int]:
    """The number of missing bytes by packet, from the record headers of the file."""
    data = gzip.decompress(PATHS["snaplen"].read_bytes())
    place, number, cut = 24, 0, {}
    while place < len(data):
        kept, size = struct.unpack_from("<II", data, place + 8)
        place, number = place + 16 + kept, number + 1
        if kept < size:
            cut[number] = size - kept
    return cut


def test_each_truncated_packet_is_a_loss_with_its_missing_bytes(tables: Tables) -> None:
    rows = tables.of("snaplen", "losses")
    assert {row["packet"]: row["bytes"] for row in rows} == cut_packets()
    assert {row["kind"] for row in rows} == {"truncated"}


def test_samples_within_the_snap_length_are_found(tables: Tables) -> None:
    """62 bytes of each packet are kept. Forwarded samples have a timestamp of 25 more bytes."""
    sidecar = sidecar_of("snaplen")
    sizes = {digest_in(row["payload"]): row["payload"]["len"] for row in sidecar.of("put")}
    rows, calls = tables.samples("snaplen"), calls_of(sidecar, "pub")
    sent = counted(row for row in rows if row["sender_zid"] == sidecar.zids["pub"])
    assert sent == Counter(call for call in calls.elements() if sizes[call.payload] <= 30)
    got = Counter(arrived(row) for row in rows if row["receiver_zid"] == sidecar.zids["sub"])
    samples = [delivered(row) for row in sidecar.received]
    assert got == Counter(row for row in samples if sizes[row.payload] <= 10)
    assert 0 < got.total() < sent.total() < calls.total()


# --- midstream ---------------------------------------------------------------------------


def pushed(tables: Tables, is_to_router: bool) -> list[Row]:
    """Samples to or from the router, identified by its listening port."""
    places = {
        (row["packet"], row["link"]): row["receiver"].endswith(":17185")
        for row in tables.of("midstream", "batches")
    }
    rows = tables.samples("midstream")
    return [row for row in rows if places[row["packet"], row["link"]] == is_to_router]


def test_midstream_has_every_call_and_null_for_unknown_keys(tables: Tables) -> None:
    sidecar = sidecar_of("midstream")

    def known(row: Row) -> Publication:
        call = called(row)
        return call._replace(key=None) if call.key == "mid/pub/early" else call

    puts = [row for row in sidecar.events if row["op"] == "put"]
    sent = Counter(map(publication, pushed(tables, is_to_router=True)))
    within = Counter(known(row) for row in puts if row["on_wire"] == "within")
    near = Counter(known(row) for row in puts if is_near_the_ends(row, sidecar.capture))
    assert not within - sent - near
    assert not sent - within - near
    assert abs(sent.total() - within.total()) <= 2
    assert sum(call.key is None for call in sent.elements()) == 159

    got = Counter(map(arrived, pushed(tables, is_to_router=False)))
    rows = [(row, delivered(row)._replace(key=None)) for row in sidecar.received]
    within = Counter(sample for row, sample in rows if row["on_wire"] == "within")
    near = Counter(sample for row, sample in rows if is_near_the_ends(row, sidecar.capture))
    assert not within - got - near
    assert not got - within - near


@pytest.mark.parametrize("name", ["midstream", "snaplen", "impaired"])
def test_no_key_is_guessed(tables: Tables, name: str) -> None:
    keys = {row["key"] for row in sidecar_of(name).events if "key" in row}
    keys |= {key.removesuffix("/**") for key in keys}
    for table in ("messages", "samples", "declarations", "interests"):
        assert {row["key"] for row in tables.of(name, table)} <= keys | {None}


# --- pico_peers --------------------------------------------------------------------------


def test_sequence_numbers_used_on_the_other_channel_are_reported_missing(tables: Tables) -> None:
    """zenoh-pico sends fragments as best effort, with sequence numbers of the reliable channel."""
    (gap,) = tables.of("pico_peers", "losses")
    fragments = [row for row in tables.of("pico_peers", "messages") if row["kind"] == "FRAGMENT"]
    assert gap["count"] == len(fragments) == 4
    assert gap["sender_zid"] == fragments[0]["sender_zid"]
    assert {row["reliability"] for row in fragments} == {"best_effort"}
    assert gap["reliability"] == "reliable"
