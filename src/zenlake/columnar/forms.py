"""The forms of units, as numbers for kernels."""

from __future__ import annotations

from typing import Final

BATCH: Final = 0
"""Transport messages; after decompression."""
LOW_LATENCY: Final = 1
"""Network messages, CLOSE and KEEP_ALIVE without frames."""
SCOUTING: Final = 2
"""A datagram with one SCOUT or HELLO; bytes after it are ignored."""
NETWORK: Final = 3
"""One network message, such as a reassembled one; bytes after it are ignored."""

FULL: Final = 1
"""Returned by a walk when the table has no room for another row; failures are negative."""
