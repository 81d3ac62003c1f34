"""`seq`: orders all rows of one capture, whoever reads which part of it."""

from __future__ import annotations

from typing import Final

ORDINAL_BITS: Final = 24
"""The packet's number stands above them, what it completed counts within them."""
