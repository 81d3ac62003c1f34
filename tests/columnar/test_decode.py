"""The arguments and results of `decode`."""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
import sys

import numpy as np
import pytest

from tests.columnar.inputs import vector_inputs
from zenlake.columnar import BATCH, LOW_LATENCY, decode, fields, intern_keys, kinds
from zenlake.columnar.causes import CAUSES
from zenlake.columnar.jit import IS_COMPILED
from zenlake.errors import LocalError
from zenlake.wire import Close, Frame, KeepAlive, Push, Put, WireExpr, decode_batch
from zenlake.wire.batch import encode_messages


def pushes(*keys: WireExpr) -> bytes:
    return bytes(Frame(1, [Push(key, Put(b"payload of " + key.suffix.encode())) for key in keys]))


def test_rows_are_in_order_and_have_the_values_of_their_frame() -> None:
    frame = Frame(7, [Push(WireExpr(0, "a"), Put(b"x"))])
    content = encode_messages([KeepAlive(), frame, Close(2)])
    columns = decode(content, [0, len(content)])
    assert columns.kind_words() == ["KEEP_ALIVE", "FRAME", "PUSH/PUT", "CLOSE"]
    assert columns["sn"].tolist() == [0, 7, 7, 0]
    assert columns.present("sn").tolist() == [False, True, True, False]
    assert columns["close_reason"].tolist() == [0, 0, 0, 2]
    assert columns.bytes_of("payload", 2) == b"x"
    assert columns.bytes_of("payload", 3) is None
    assert columns["offset"].tolist() == [0, 1, 3, len(content) - 2]
    assert columns["length"].tolist() == [1, len(content) - 3, len(content) - 5, 2]


def test_error_is_that_of_the_scalar_decoder() -> None:
    content = pushes(WireExpr(0, "a")) + b"\x1f"
    columns = decode(b"\x04" + content, [0, 1, 1 + len(content)])
    expected = decode_batch(content).error
    exact = columns.exact_error(1)
    assert columns.error(0) is None
    assert columns.exact_error(0) is None
    assert expected is not None
    assert exact is not None
    assert str(exact) == str(expected)
    failure = columns.failure(1)
    assert failure is not None
    assert failure.offset == expected.offset
    assert CAUSES[failure.cause]


def test_each_unit_is_decoded_in_its_form() -> None:
    push = bytes(Push(WireExpr(0, "a"), Put(b"")))
    columns = decode(push + push, [0, len(push), 2 * len(push)], [LOW_LATENCY, BATCH])
    assert columns.kind_words() == ["PUSH/PUT"]
    assert columns.failures[0] == 0
    assert columns.failures[1] < 0


def test_no_units_are_decoded_to_no_rows() -> None:
    assert len(decode(b"", [])) == 0
    assert len(decode(b"", [0])) == 0
    assert len(decode(b"", [0, 0, 0])) == 0


def test_only_bytes_between_bounds_are_decoded() -> None:
    columns = decode(b"\xff\x04\x04\xff", [1, 3])
    assert columns.kind_words() == ["KEEP_ALIVE", "KEEP_ALIVE"]


@pytest.mark.parametrize("bounds", [[0, 5], [-1, 2], [0, 3, 2], [2, 1]])
def test_bounds_outside_the_buffer_are_an_error(bounds: list[int]) -> None:
    with pytest.raises(LocalError, match="bounds"):
        decode(b"\x04" * 4, bounds)


def test_unknown_form_is_an_error() -> None:
    with pytest.raises(LocalError, match="form 4"):
        decode(b"\x04", [0, 1], 4)


def test_keys_are_interned() -> None:
    keys = [WireExpr(0, "a"), WireExpr(0, "b"), WireExpr(0, "a"), WireExpr(1, "a")]
    keys += [WireExpr(1, "a", sender=False), WireExpr(0, "a" * 40), WireExpr(1, ""), keys[1]]
    content = pushes(*keys)
    interned = intern_keys(decode(content, [0, len(content)]))
    assert interned.ids.tolist() == [-1, 0, 1, 0, 2, 3, 4, 5, 1]
    assert interned.rows.tolist() == [1, 2, 4, 5, 6, 7]


def test_thousand_keys_are_interned_in_order() -> None:
    content = pushes(*(WireExpr(0, f"k{number % 1_000}") for number in range(3_000)))
    interned = intern_keys(decode(content, [0, len(content)]))
    assert interned.ids[1:].tolist() == [number % 1_000 for number in range(3_000)]


def test_kinds_have_different_codes() -> None:
    assert len(set(kinds())) == len(kinds()) < 128
    assert {"PUSH/PUT", "RESPONSE/REPLY/DEL", "DECLARE/D_FINAL", "OAM/LINKSTATE"} <= set(kinds())
    assert "payload" in fields()


@pytest.mark.skipif(not IS_COMPILED, reason="plain Python checks every access by itself")
@pytest.mark.skipif(sys.platform != "linux", reason="uses mprotect of Linux")
def test_no_byte_after_the_buffer_is_read() -> None:
    """The page after the buffer cannot be read: one byte too far ends the process."""
    code = "from tests.columnar.test_decode import decode_before_a_wall; decode_before_a_wall()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(["", *sys.path])}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def decode_before_a_wall() -> None:
    page = mmap.PAGESIZE
    memory = mmap.mmap(-1, 17 * page)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.mprotect(ctypes.c_void_p(address + 16 * page), page, 0) == 0
    for content, form in vector_inputs():
        for size in range(len(content) + 1):
            begin = 16 * page - size
            memory[begin : 16 * page] = content[:size]
            intern_keys(decode(np.frombuffer(memory, np.uint8, size, begin), [0, size], form))
