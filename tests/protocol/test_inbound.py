"""The receiving half of a session: the cases of wire reference §12.7, and framing."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.protocol.transports import delivered, payloads, transport
from tests.vectors import UNITS
from zenlake.protocol.errors import TransportError
from zenlake.protocol.transport import Transport
from zenlake.wire import (
    Close,
    CloseReason,
    Declare,
    DeclareSubscriber,
    Frame,
    KeepAlive,
    Push,
    Put,
    WireExpr,
)
from zenlake.wire.framing import frame_batch
from zenlake.wire.message import Extension


def frame(sn: int, *texts: bytes, reliable: bool = True) -> bytes:
    return bytes(Frame(sn, [Push(WireExpr(0, "k"), Put(text)) for text in texts], reliable))


def receive(receiver: Transport, *contents: bytes) -> list[bytes]:
    return payloads(receiver.receive(b"".join(map(frame_batch, contents)), 0.0))


def dropped(receiver: Transport, content: bytes) -> tuple[str, list[bytes]]:
    """The error that drops the link, and the messages delivered before."""
    with pytest.raises(TransportError) as caught:
        receiver.receive(frame_batch(content), 0.0)
    with pytest.raises(TransportError, match="dropped before"):
        receiver.receive(frame_batch(frame(1, b"later")), 0.0)
    return caught.value.cause, payloads(caught.value.deliveries)


def test_n11_number_beyond_the_mask_drops_the_link() -> None:
    cause, _ = dropped(transport(), bytes.fromhex("25 80 80 80 80 01") + frame(0, b"x")[2:])
    assert cause == "sequence number 268435456, at most 268435455 is agreed"


def test_n12_same_or_lower_number_is_ignored() -> None:
    receiver = transport(peer_sn=5)
    assert receive(receiver, frame(5, b"a"), frame(5, b"b"), frame(4, b"c")) == [b"a"]
    assert receive(receiver, frame(6, b"d")) == [b"d"]
    assert receiver.inbound.stale_frames == 2


@pytest.mark.parametrize("reliable", [True, False])
def test_n13_gaps_are_accepted(reliable: bool) -> None:
    receiver = transport(peer_sn=5)
    contents = [frame(5, b"a", reliable=reliable), frame(15, b"b", reliable=reliable)]
    assert receive(receiver, *contents) == [b"a", b"b"]


def test_n14_messages_before_the_bad_byte_are_delivered() -> None:
    receiver = transport()
    cause, delivered = dropped(receiver, frame(0, b"a") + b"\x18\x00")
    assert delivered == [b"a"]
    assert "0x18" in cause


def test_messages_before_a_bad_one_are_delivered() -> None:
    assert dropped(transport(), frame(0, b"a") + b"\x3d\xff")[1] == [b"a"]


def test_n15_unknown_mandatory_extension_drops_the_link() -> None:
    message = Push(WireExpr(0, "k"), Put(b"x"), extensions=(Extension(0x1E),))
    assert dropped(transport(), bytes(Frame(0, [message])))[1] == []


def test_n16_unknown_optional_extension_is_delivered() -> None:
    message = Push(WireExpr(0, "k"), Put(b"x"), extensions=(Extension(0x0E),))
    assert receive(transport(), bytes(Frame(0, [message]))) == [b"x"]


def test_n17_shared_memory_was_not_agreed() -> None:
    messages = [
        Push(WireExpr(0, "k"), Put(b"a")),
        Push(WireExpr(0, "k"), Put(b"\x01\x01\x01b", shm=True)),
    ]
    cause, delivered = dropped(transport(), bytes(Frame(0, list(messages))))
    assert delivered == [b"a"]
    assert "shared memory" in cause


def test_n18_keys_are_not_validated_here() -> None:
    message = Push(WireExpr(77, "//a"), Put(b"x"))
    assert receive(transport(), bytes(Frame(0, [message]))) == [b"x"]


@pytest.mark.parametrize("id", ["a5", "a6"])
def test_n19_priority_without_qos_drops_the_link(id: str) -> None:
    rest = frame(0, b"x")[2:]
    content = bytes.fromhex(id + "00 31 03") + rest
    assert dropped(transport(qos=False), content)[0] == "priority 3, but no priorities were agreed"
    assert receive(transport(qos=False), bytes.fromhex("a5 00 31 05") + rest) == [b"x"]


def test_n20_batch_size_counts_the_prefix() -> None:
    receiver = transport(batch_size=100)
    fits = frame(0, bytes(90))
    assert len(fits) == 98
    assert receive(receiver, fits) == [bytes(90)]
    with pytest.raises(TransportError, match="99 bytes, at most 98 are agreed"):
        receiver.receive(b"\x63\x00", 0.0)


def test_datagram_above_the_batch_size_drops_the_link() -> None:
    receiver = transport(batch_size=100, is_stream=False)
    assert payloads(receiver.receive(frame(0, bytes(92)), 0.0)) == [bytes(92)]
    with pytest.raises(TransportError, match="101 bytes, at most 100"):
        receiver.receive(bytes(101), 0.0)


def test_empty_batches_and_frames() -> None:
    """An empty FRAME consumes its number; an empty batch only renews the lease."""
    receiver = transport()
    assert receive(receiver, b"", frame(0), frame(0, b"a"), frame(1, b"b")) == [b"b"]
    assert receiver.inbound.batches == 4
    datagrams = transport(is_stream=False)
    assert datagrams.receive(b"", 5.0) == []
    assert datagrams.inbound.received_at == 5.0


def test_keep_alive_between_two_frames_is_ignored() -> None:
    content = frame(0, b"a") + bytes(KeepAlive()) + frame(1, b"b", b"c")
    assert receive(transport(), content) == [b"a", b"b", b"c"]


def test_handshake_messages_on_an_open_session_are_ignored() -> None:
    receiver = transport()
    strange = [
        bytes.fromhex("c1 09 02 05 0a ff ff 01"),  # INIT
        bytes.fromhex("62 0a 00"),  # OPEN
        bytes.fromhex("a7 09 01 aa 0a 99 b0 b0 67 d5 e6 bf 09 27 01"),  # JOIN
        bytes.fromhex("a0 05 31 00 ac 02"),  # OAM
    ]
    assert receive(receiver, *strange, frame(0, b"a")) == [b"a"]
    assert receiver.inbound.ignored_messages == 4


@pytest.mark.parametrize("code", [0, 6, 7, 8, 255])
def test_nothing_is_read_after_close(code: int) -> None:
    receiver = transport()
    assert receiver.peer_closed is None
    content = frame(0, b"a") + bytes([3, code]) + b"\xff\xff"
    assert receive(receiver, content, frame(1, b"b")) == [b"a"]
    assert receive(receiver, b"\xff", b"\xff" * 70) == []
    assert receiver.peer_closed == (CloseReason(code) if code < 8 else CloseReason.GENERIC)
    assert receiver.inbound.close_code == code


def test_channels_have_numbers_of_their_own() -> None:
    receiver = transport(peer_sn=9)
    contents = []
    for priority in range(8):
        for reliable in (b"\xa5", b"\x85"):
            name = bytes([priority]) + reliable
            contents.append(reliable + bytes([9, 0x31, priority]) + frame(0, name)[2:])
    assert len(set(receive(receiver, *contents))) == 16
    assert receive(receiver, *contents) == []
    assert receiver.inbound.stale_frames == 16


def test_delivery_has_the_reliability() -> None:
    found = transport().receive(frame_batch(frame(0, b"a") + frame(0, b"b", reliable=False)), 0.0)
    assert [each.reliable for each in found] == [True, False]
    assert "reliable=False" in repr(found[1])


# --- framing (limits: H12) -------------------------------------------------------------------


def test_stream_cut_at_any_byte_delivers_the_same() -> None:
    stream = b"".join(
        frame_batch(each) for each in (frame(0, b"a"), b"", frame(1, bytes(300)), b"\x04")
    )
    for cut in range(len(stream) + 1):
        receiver = transport()
        found = receiver.receive(stream[:cut], 0.0) + receiver.receive(stream[cut:], 0.0)
        assert payloads(found) == [b"a", bytes(300)]


def test_thousand_batches_in_one_read_and_byte_by_byte() -> None:
    stream = b"".join(frame_batch(frame(sn, bytes(sn % 7))) for sn in range(1000))
    expected = [bytes(sn % 7) for sn in range(1000)]
    assert payloads(transport().receive(stream, 0.0)) == expected
    receiver = transport()
    found = []
    for index in range(len(stream)):
        found += receiver.receive(stream[index : index + 1], 0.0)
    assert payloads(found) == expected


def test_large_read_is_decoded_in_portions() -> None:
    """One call decodes a limited number of batches, independent of the size of the read."""
    contents = [frame(n, b"a%d" % n, b"b%d" % n) for n in range(1_000)]
    contents += [bytes(KeepAlive())] * 5_000
    data = b"".join(map(frame_batch, contents))
    whole = payloads(transport().receive(data, 0.0))
    inbound = transport().inbound
    got = payloads(inbound.receive(data, 0.0, 100))
    calls = 1
    while inbound.has_more:
        portion = payloads(inbound.receive_more(0.0, 100))
        assert len(portion) <= 102
        got += portion
        calls += 1
    assert got == whole
    assert calls == 80  # 6,000 batches and 2,000 messages


def test_bad_bytes_and_close_end_a_portion() -> None:
    inbound = transport().inbound
    first = frame_batch(frame(0, b"a", b"b"))
    assert payloads(inbound.receive(first + frame_batch(b"\x18\x00"), 0.0, 1)) == [b"a", b"b"]
    with pytest.raises(TransportError):
        inbound.receive_more(0.0, 1)
    assert not inbound.has_more
    inbound = transport().inbound
    inbound.receive(frame_batch(bytes(Close(0))) + first, 0.0, 1)
    assert inbound.close_code == 0
    assert not inbound.has_more


@pytest.mark.parametrize("size", [0, 1, 65_533])
def test_batches_of_extreme_lengths(size: int) -> None:
    content = b"\x04" * size
    receiver = transport()
    assert receiver.receive(frame_batch(content) + frame_batch(frame(0, b"a")), 0.0)
    assert receiver.inbound.batches == 2


def test_length_65535_is_more_than_any_batch_size_allows() -> None:
    with pytest.raises(TransportError, match="65535 bytes, at most 65533 are agreed"):
        transport().receive(b"\xff\xff", 0.0)


# --- whatever comes --------------------------------------------------------------------------

_CONTENTS = [unit.data for unit in UNITS if unit.kind in ("batch", "cbatch", "ll")]


@given(st.binary(max_size=200), st.booleans(), st.booleans(), st.booleans())
def test_random_bytes_raise_only_transport_errors(
    data: bytes, is_stream: bool, is_low_latency: bool, compression: bool
) -> None:
    receiver = transport(
        is_stream=is_stream, qos=False, low_latency=is_low_latency, compression=compression
    )
    with_prefix = len(data).to_bytes(4 if is_low_latency else 2, "little") if is_stream else b""
    for piece in (with_prefix + data, data):
        try:
            receiver.receive(piece, 0.0)
        except TransportError:
            return


def test_damaged_vectors_raise_only_transport_errors() -> None:
    seed = 12
    source = random.Random(seed)
    for _ in range(3000):
        content = bytearray(source.choice(_CONTENTS))
        for _ in range(source.randrange(3)):
            content[source.randrange(len(content))] ^= 1 << source.randrange(8)
        receiver = transport(
            is_stream=False,
            compression=source.random() < 0.3,
            peer_sn=source.choice((0, 100, 0x0FFFFFFF)),
        )
        try:
            delivered(receiver.receive(bytes(content), 0.0))
        except TransportError as error:
            delivered(error.deliveries)


def test_fragments_and_frames_of_recorded_traffic() -> None:
    """The 3000-byte PUT of wire reference §12.4: 16-bit numbers, one skipped afterwards."""
    whole = bytes(Push(WireExpr(1, "/b"), Put(b"Z" * 3000)))
    parts = [whole[:1018], whole[1018:2037], whole[2037:]]
    batches = [
        bytes.fromhex("e6 a4 39 02") + parts[0],
        bytes.fromhex("66 a5 39") + parts[1],
        bytes.fromhex("26 a6 39") + parts[2],
        bytes.fromhex("25 a8 39") + frame(0, b"next")[2:],
    ]
    assert [len(batch) for batch in batches[:3]] == [1022, 1022, 974]
    receiver = transport(batch_size=1024, sn_bits=16, peer_sn=7332)
    assert receive(receiver, *batches) == [b"Z" * 3000, b"next"]


@pytest.mark.parametrize("keeps_runs", [False, True])
def test_discarded_publications_are_counted_and_not_delivered(keeps_runs: bool) -> None:
    receiver = transport()
    receiver.inbound.discards_publications = True
    receiver.inbound.keeps_runs = keeps_runs
    declared = Declare(DeclareSubscriber(1, WireExpr(0, "k")))
    publication = Push(WireExpr(0, "k"), Put(b"x"))
    content = bytes(Frame(0, [*[publication] * 40, declared, publication]))
    assert delivered(receiver.receive(frame_batch(content), 0.0)) == [(declared, True)]
    assert receiver.receive(frame_batch(frame(1, b"x", b"y")), 0.0) == []
    assert receiver.inbound.messages == 44
    assert receive(receiver, bytes(Close(0))) == []
    assert receiver.peer_closed == CloseReason.GENERIC
