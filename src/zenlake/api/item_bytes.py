"""How many bytes an item of a handler holds: its payload and its attachment.

Handlers are limited in bytes as well as in items (`HANDLER_BYTES_MAX`).
"""

from __future__ import annotations

from zenlake import wire
from zenlake.api.query import Query
from zenlake.api.reply import Reply, ReplyError
from zenlake.api.sample import Sample


def item_bytes(item: object) -> int:
    """Of samples, replies and queries; all else is small. Hot."""
    if isinstance(item, Reply):
        result = item._result
        if isinstance(result, ReplyError):
            return len(result._payload)
        item = result
    if isinstance(item, Sample):
        body = item._body
        attachment = body.attachment
        size = 0 if attachment is None else len(attachment)
        return size + len(body.payload) if isinstance(body, wire.Put) else size
    if isinstance(item, Query):
        return item._incoming.held_bytes()
    return 0


def items_bytes(items: list[object]) -> int:
    size = 0
    for item in items:
        size += item_bytes(item)
    return size
