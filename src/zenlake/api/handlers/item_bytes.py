"""The number of bytes that an item counts for in its handler's limit (session/held_bytes.py)."""

from __future__ import annotations

from zenlake.api.publication.sample import Sample
from zenlake.api.query.query import Query
from zenlake.api.query.reply import Reply, ReplyError
from zenlake.session.held_bytes import held_bytes, held_bytes_of


def item_bytes(item: object) -> int:
    """The bytes of a sample, reply or query; other items are small and count as 0."""
    if isinstance(item, Reply):
        result = item._result
        if isinstance(result, ReplyError):
            return held_bytes(result._payload, None)
        return held_bytes_of(result._body)
    if isinstance(item, Sample):
        return held_bytes_of(item._body)
    if isinstance(item, Query):
        query = item._incoming.body
        value = query.body
        return held_bytes(b"" if value is None else value.payload, query.attachment)
    return 0
