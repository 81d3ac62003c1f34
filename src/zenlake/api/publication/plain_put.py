"""`PlainPut`: a publisher's `put` of a payload without options, the most frequent call.

This module is compiled and `Publisher` is not: most puts end here.
"""

from __future__ import annotations

from zenlake.api.arguments.conversion import payload_of
from zenlake.api.values.zbytes import ZBytes
from zenlake.session.publications import Publication, Publications


class PlainPut:
    __slots__ = ("_publication", "_publications", "is_live")

    def __init__(self, publications: Publications, publication: Publication) -> None:
        self._publications = publications
        self._publication = publication
        self.is_live = True
        """False once the publisher is undeclared."""

    def put(self, payload: object) -> bool:
        """Publish by the shortcut, without a lock; False if there is no shortcut. Hot."""
        if not self.is_live or self._publication.shortcut is None:
            return False
        if type(payload) is bytes:
            raw = payload
        elif isinstance(payload, ZBytes):
            raw = payload.to_bytes()
        else:
            raw = payload_of(payload)
        return self._publications.publish(self._publication, raw)
