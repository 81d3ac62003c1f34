"""`PlainPut`: a publisher's `put` of a payload with nothing else, the hottest call there is.

Compiled, which `Publisher` is not: most puts are over before its own code begins.
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
        """Publish it by the shortcut, without any lock; False if there is none. Hot."""
        if not self.is_live or self._publication.shortcut is None:
            return False
        if type(payload) is bytes:
            raw = payload
        elif isinstance(payload, ZBytes):
            raw = payload.to_bytes()
        else:
            raw = payload_of(payload)
        return self._publications.publish(self._publication, raw)
