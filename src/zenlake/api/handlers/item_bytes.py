"""How many bytes of an item count towards the limit of its handler (session/held_bytes.py)."""

from __future__ import annotations

from zenlake.api.publication.sample import Sample
from zenlake.api.query.query import Query
from zenlake.api.query.reply import Reply, ReplyError
from zenlake.session.held_bytes import held_bytes, held_bytes_of


def item_bytes(item: object) -> int:
    """Of samples, replies and queries; all else is small."""
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
