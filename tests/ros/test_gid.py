"""The id that rmw_zenoh derives from the key of a token."""

from __future__ import annotations

import sys

import pytest

from tests.ros.test_token import PUBLISHER
from zenlake.errors import LocalError
from zenlake.ros.gid import gid_of

pytest.importorskip("xxhash", reason="needs zenlake[sql]")


def test_gid_is_xxh3_with_its_low_half_first() -> None:
    # Printed as a number, the hash of the empty text is 99aa06d3014798d86001c324468d497f.
    assert gid_of("") == bytes.fromhex("99aa06d3014798d86001c324468d497f")[::-1].hex()


def test_gids_of_tokens_differ() -> None:
    assert len(gid_of(PUBLISHER)) == 32
    assert gid_of(PUBLISHER) != gid_of(PUBLISHER[:-1])
    assert gid_of("\ud800") == gid_of("\ud800")


def test_missing_extra_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xxhash", None)
    with pytest.raises(LocalError, match=r"pip install 'zenlake\[sql\]'"):
        gid_of("")
