"""No test of links may leave a thread or a socket behind."""

from __future__ import annotations

from tests.leftovers import leaves_nothing

__all__ = ["leaves_nothing"]
