"""`seq`: orders all rows of one capture, whichever tasks read its parts."""

from __future__ import annotations

from typing import Final

ORDINAL_BITS: Final = 24
"""Low bits: the ordinal within the packet. The bits above are the packet number."""
