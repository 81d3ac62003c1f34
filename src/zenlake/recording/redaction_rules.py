"""Redaction rules: which keys are left out of a recording, and which lose their payloads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from zenlake.errors import KeyExprError, LocalError
from zenlake.keyexpr.canonical import canonize
from zenlake.keyexpr.matching import includes, intersects

FREE: Final = 0
"""No rule matches the key."""
DROPPED: Final = 1
"""Payloads and attachments of the key are dropped."""
PARTLY: Final = 2
"""The key expression has wildcards, and some of its keys are excluded."""
EXCLUDED: Final = 3
"""All keys of the expression are excluded."""

_CACHED_MAX: Final = 16_384
_CACHED_CHARACTERS_MAX: Final = 512


class RedactionRules:
    """Key expressions whose messages, or whose payloads, are not recorded.

    Verbatim chunks (`@...`) match no wildcard. But keys with such chunks may contain other keys:
    `@/ID/router/subscriber/KEY` in the admin space, `KEY/@adv/...` of advanced publishers. So the
    parts of such a key are compared with the rules too.
    """

    def __init__(self, exclude: Sequence[str] = (), drop_payload: Sequence[str] = ()) -> None:
        self.exclude = [_rule(text) for text in exclude]
        self.drop_payload = [_rule(text) for text in drop_payload]
        self._cache: dict[str, int] = {}

    def __bool__(self) -> bool:
        return bool(self.exclude or self.drop_payload)

    def verdict(self, key: str) -> int:
        """The verdict on messages about `key`; a text that is no key expression is excluded."""
        found = self._cache.get(key)
        if found is None:
            found = self._verdict(key)
            if len(key) <= _CACHED_CHARACTERS_MAX:
                if len(self._cache) >= _CACHED_MAX:
                    self._cache.clear()
                self._cache[key] = found
        return found

    def _verdict(self, key: str) -> int:
        try:
            texts = _parts(canonize(key))
        except KeyExprError:
            return EXCLUDED
        found = FREE
        for text in texts:
            found = max(found, self._verdict_of_part(text))
        return found

    def _verdict_of_part(self, key: str) -> int:
        for rule in self.exclude:
            if includes(rule, key):
                return EXCLUDED
        for rule in self.exclude:
            if intersects(rule, key):
                return PARTLY
        for rule in self.drop_payload:
            if intersects(rule, key):
                return DROPPED
        return FREE

    def may_begin_excluded(self, prefix: str) -> bool:
        """Whether `prefix`, with something appended, may be an excluded key."""
        if not self.exclude:
            return False
        if self.verdict(prefix) >= PARTLY or "@" in prefix:
            return True
        last = prefix.rpartition("/")[2]
        longer = f"{prefix}/**" if not last or "*" in last else f"{prefix}$*/**"
        try:
            longer = canonize(longer)
        except KeyExprError:
            return True
        return any(intersects(rule, longer) for rule in self.exclude)


def _rule(text: str) -> str:
    try:
        return canonize(text)
    except KeyExprError as error:
        raise LocalError(f"a redaction rule needs a key expression: {error}") from None


def _parts(key: str) -> list[str]:
    """The key, and the keys that it may contain between its verbatim chunks."""
    if "@" not in key:
        return [key]
    found = [key]
    part: list[str] = []
    for chunk in [*key.split("/"), "@"]:
        if not chunk.startswith("@"):
            part.append(chunk)
            continue
        found.extend("/".join(part[start:]) for start in range(len(part)))
        part = []
    return found
