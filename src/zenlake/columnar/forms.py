"""What a unit holds, as numbers for kernels."""

from __future__ import annotations

from typing import Final

BATCH: Final = 0
"""Transport messages; after decompression."""
LOW_LATENCY: Final = 1
"""Network messages, CLOSE and KEEP_ALIVE without frames."""
SCOUTING: Final = 2
"""A datagram with one SCOUT or HELLO; what follows is passed over."""
NETWORK: Final = 3
"""One network message, such as fragments give; what follows is passed over."""

FULL: Final = 1
"""What a walk gives where there is no room for another row; failures are negative."""
