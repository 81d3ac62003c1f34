"""Publications decoded as a run equal those decoded one by one."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from zenlake.errors import WireError
from zenlake.wire import Del, Encoding, Push, Put, QoS, Timestamp, WireExpr, ZenohId
from zenlake.wire._generated.network import decode_network
from zenlake.wire.message import NetworkMessage
from zenlake.wire.runs import decode_messages

Outcome = tuple[list[NetworkMessage], int | tuple[str, str, int, str]]
# About 2026 in units of 1/2**32 s, and times that take fewer bytes.
TIMES = (0x6A50_0000_0000_0000, 0x6A50_0007_FFFF_FFF0, 1 << 56, (1 << 56) - 1, 300, 0)
SIZES = (0, 1, 8, 127, 128, 300, 0x3FFF, 0x4000)


def one_by_one(data: bytes) -> Outcome:
    messages: list[NetworkMessage] = []
    pos = 0
    try:
        while pos < len(data) and data[pos] & 0x1F >= 0x19:
            message, pos = decode_network(data, pos)
            messages.append(message)
    except WireError as error:
        return messages, (error.message, error.field, error.offset, error.cause)
    return messages, pos


def as_runs(data: bytes) -> Outcome:
    messages: list[NetworkMessage] = []
    try:
        return messages, decode_messages(data, 0, messages)
    except WireError as error:
        return messages, (error.message, error.field, error.offset, error.cause)


@st.composite
def runs(draw: st.DrawFn) -> list[Push]:
    """Mostly similar publications; some steps in time are large enough to end a run."""
    key = draw(st.sampled_from([WireExpr(0, "a/b"), WireExpr(3, "", True), WireExpr(300, "x")]))
    qos = draw(st.sampled_from([None, QoS(0x0D)]))
    encoding = draw(st.sampled_from([None, Encoding(10), Encoding(10, b"schema")]))
    attachment = draw(st.sampled_from([None, b"", b"attached"]))
    zid = ZenohId(draw(st.sampled_from([b"\x01", bytes(range(1, 17))])))
    time = draw(st.sampled_from(TIMES))
    is_stamped = draw(st.booleans())
    made = []
    for size in draw(st.lists(st.sampled_from(SIZES), min_size=1, max_size=8)):
        time = (time + draw(st.sampled_from([0, 16, 1 << 20, 1 << 35, 1 << 57]))) % (1 << 64)
        stamp = Timestamp(time, zid) if is_stamped else None
        made.append(Push(key, Put(bytes(size), stamp, encoding, None, False, attachment), qos))
    return made


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Changes some bytes of a run, so that lengths and times break in the middle of it."""
    data = bytearray(b"".join(map(bytes, draw(runs()))))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, min(len(data) - 1, 120)))
        data[at] = draw(st.sampled_from([0, 1, 0x7F, 0x80, 0x88, 0xFF]))
    return bytes(data[: draw(st.integers(0, len(data)))]) if draw(st.booleans()) else bytes(data)


@given(runs())
def test_a_run_is_decoded_as_it_was_encoded(run: list[Push]) -> None:
    data = b"".join(map(bytes, run))
    messages, stop = as_runs(data)
    assert messages == run
    assert stop == len(data)
    assert [bytes(message) for message in messages] == [bytes(message) for message in run]


@given(mutated())
# A length that is written with more bytes than it needs, before and within a run.
@example(b"\x1d\x01\x01\x80\x00" + b"\x1d\x01\x01\x80\x05" + bytes(5))
@example(b"\x1d\x01\x01\x01\x00" + b"\x1d\x01\x01\x81\x00" + bytes(5))
def test_any_bytes_are_decoded_as_one_by_one(data: bytes) -> None:
    assert as_runs(data) == one_by_one(data)


def test_slices_of_shared_memory_are_not_a_run() -> None:
    """They have a count where a length would be."""
    slices = [bytes.fromhex(f"01 01 07 88 27 a1 b8 01 {n:02x} 00") for n in range(3)]
    run: list[Push] = [Push(WireExpr(0, "k"), Put(one, shm=True)) for one in slices]
    run.append(Push(WireExpr(0, "k"), Put(b"plain")))
    data = b"".join(map(bytes, run))
    assert as_runs(data) == (run, len(data))


def test_publications_of_a_run_share_their_key() -> None:
    """Routing looks up a shared key once."""
    run = [
        Push(WireExpr(0, "k"), Put(bytes([n]), Timestamp(TIMES[0] + n, ZenohId(b"\1"))))
        for n in range(5)
    ]
    others = [Push(WireExpr(0, "k"), Del()), Push(WireExpr(0, "l"), Put(b""))]
    messages, _ = as_runs(b"".join(map(bytes, run + others)))
    keys = [message.key for message in messages if isinstance(message, Push)]
    assert all(key is keys[0] for key in keys[:5])
    assert keys[5] is not keys[0]
    assert keys[6].suffix == "l"
