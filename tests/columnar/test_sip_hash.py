"""The hash is SipHash-1-3, compiled or not, and each process has its own key."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.child_process import child_environment
from tests.columnar.hashed_words import hash_of_words
from zenlake.columnar.sip_hash import random_key
from zenlake.routing.network.weights import sip_hash

_WORDS = (0, 1, -1, 0x0102_0304_0506_0708, -(1 << 63), (1 << 63) - 1)


def _message(words: tuple[int, ...]) -> bytes:
    """The message that SipHash divides into these words; its length is in the highest byte."""
    return b"".join((word & (1 << 64) - 1).to_bytes(8, "little") for word in words)


@pytest.mark.parametrize("count", range(1, len(_WORDS) + 1))
def test_is_siphash_1_3(count: int) -> None:
    words = _WORDS[:count]
    last = (8 * count & 0xFF) << 56
    assert hash_of_words((0, 0), (*words, last)) == sip_hash(_message(words)) >> 1


def test_known_value_with_a_key() -> None:
    """Key 00..0f, no message: the first of the test vectors of Rust's SipHash-1-3."""
    key = (0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908)
    assert hash_of_words(key, (0,)) == 0xABAC_0158_050F_C4DC >> 1


def test_hash_in_plain_python_is_the_same() -> None:
    code = (
        "from zenlake.columnar.jit import IS_COMPILED; assert not IS_COMPILED;"
        "from tests.columnar.hashed_words import hash_of_words;"
        f"print(hash_of_words((-5, 7), {_WORDS}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=child_environment(NUMBA_DISABLE_JIT="1"),
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) == hash_of_words((-5, 7), _WORDS)


def test_keys_are_random_and_fit_a_signed_number() -> None:
    keys = {number for _ in range(100) for number in random_key()}
    assert len(keys) == 200
    assert all(-(1 << 63) <= number < 1 << 63 for number in keys)
    assert any(number < 0 for number in keys)
