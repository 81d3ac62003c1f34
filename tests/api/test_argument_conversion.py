"""The cache of encodings, which all threads of a process share."""

from __future__ import annotations

import pytest

from zenlake import wire
from zenlake.api.arguments import conversion


class ClearedByOthers(dict[str, wire.Encoding | None]):
    """A cache that another thread clears after each check and each access."""

    def __contains__(self, key: object) -> bool:
        found = super().__contains__(key)
        self.clear()
        return found

    def __getitem__(self, key: str) -> wire.Encoding | None:
        found = super().__getitem__(key)
        self.clear()
        return found


def test_encoding_is_converted_while_another_thread_clears_the_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = wire.Encoding.parse("text/plain;utf-8")
    cache = ClearedByOthers({"text/plain;utf-8": known})
    monkeypatch.setattr(conversion, "_encodings", cache)
    for _ in range(2):
        assert conversion.encoding_of("text/plain;utf-8") == known
        assert conversion.encoding_of("zenoh/bytes") is None


def test_cache_of_encodings_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    cache: dict[str, wire.Encoding | None] = {}
    monkeypatch.setattr(conversion, "_encodings", cache)
    monkeypatch.setattr(conversion, "_ENCODINGS_MAX", 2)
    for schema in "abc":
        conversion.encoding_of(f"text/plain;{schema}")
    assert list(cache) == ["text/plain;c"]
