"""Locality: whether messages stay in the session, leave it, or both (behaviour reference §2.9)."""

from __future__ import annotations

from enum import IntEnum


class Locality(IntEnum):
    """Where a publication or query may go, or where it may come from."""

    SESSION_LOCAL = 0
    REMOTE = 1
    ANY = 2

    def __str__(self) -> str:
        return self.name.lower()
