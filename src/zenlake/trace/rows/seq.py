"""`seq`: orders all rows of one capture, whichever tasks read its parts."""

from __future__ import annotations

from typing import Final

ORDINAL_BITS: Final = 24
"""The number of low bits, which hold the ordinal within the packet; the others hold its number."""
