"""Defaults of a follower that help texts show; a module of its own, because others load slowly."""

from __future__ import annotations

from typing import Final

EVERY_SECONDS: Final = 3.0
KEEP_SECONDS: Final = 3_600.0
