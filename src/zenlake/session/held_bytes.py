"""How many bytes of a message count towards the limit of a handler (`HANDLER_BYTES_MAX`).

Small ones do not count: the number of items limits them, and most samples are small, so that
nothing has to be added up for them.
"""

from __future__ import annotations

from typing import Final

from zenlake.wire import Del, Put

SMALL_BYTES: Final = 1024


def held_bytes(payload: bytes, attachment: bytes | None) -> int:
    size = len(payload)
    if attachment is not None:
        size += len(attachment)
    return size if size > SMALL_BYTES else 0


def held_bytes_of(body: Put | Del) -> int:
    """The bytes of a sample that count. Hot."""
    return held_bytes(body.payload if isinstance(body, Put) else b"", body.attachment)
