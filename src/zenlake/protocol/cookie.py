"""Cookie: what an acceptor would have to remember between INIT and OPEN (wire reference §5.5).

It goes to the opener inside InitAck and comes back in OpenSyn: the time, the peer and the terms
as an INIT, and a tag over both. The key of the tag is made for one link and never told, so the
cookie of another link, of another node or of an earlier run is worth nothing, and the key is
all that is kept meanwhile. Nothing in it is secret: the opener knows its own terms.
"""

from __future__ import annotations

import hmac
from typing import Final

from zenlake.errors import WireError
from zenlake.limits import HANDSHAKE_SECONDS_MAX
from zenlake.wire import Init
from zenlake.wire._generated.transport import decode_init

KEY_BYTES: Final = 32
_TIME_BYTES: Final = 8
_TAG_BYTES: Final = 32


class Seal:
    """The key of one link."""

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        self._key = key

    def cookie(self, terms: Init, now: float) -> bytes:
        content = int(now * 1000).to_bytes(_TIME_BYTES, "little") + bytes(terms)
        return content + self._tag(content)

    def open(self, cookie: bytes, now: float) -> Init | None:
        """The terms, if this key sealed them, and not too long ago."""
        content, tag = cookie[:-_TAG_BYTES], cookie[-_TAG_BYTES:]
        if not hmac.compare_digest(self._tag(content), tag):
            return None
        age_ms = int(now * 1000) - int.from_bytes(content[:_TIME_BYTES], "little")
        if not 0 <= age_ms <= HANDSHAKE_SECONDS_MAX * 1000:
            return None
        try:
            return decode_init(content, _TIME_BYTES)[0]
        except WireError:
            return None  # cannot be: these are bytes of our own

    def _tag(self, content: bytes) -> bytes:
        return hmac.digest(self._key, content, "sha256")
