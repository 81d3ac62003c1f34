"""Default values of message fields and of the configuration.

They are plain numbers, so that compiled code and kernels read them as constants. Tests compare them
with the copies in other languages.
"""

from __future__ import annotations

from typing import Final

PROTOCOL_VERSION: Final = 9

# Messages (wire reference §2.4, §5.3, §8).
DEFAULT_PRIORITY: Final = 5
"""DATA: for FRAME, FRAGMENT and network messages without the QoS extension."""
DEFAULT_QOS_BYTE: Final = 5
"""The byte of a network message without the extension: DATA, DROP, not express."""
DEFAULT_RESOLUTION_BYTE: Final = 0x0A
"""The byte of INIT and JOIN: sequence numbers and request ids have 32 bits."""
DEFAULT_SN_MASK: Final = 0x0FFF_FFFF
"""The largest sequence number of the default resolution."""
DEFAULT_BATCH_BYTES: Final = 65_535
"""The batch size of INIT."""
DEFAULT_GROUP_BATCH_BYTES: Final = 8_192
"""The batch size of JOIN."""

# Configuration (behaviour reference §2.5).
DEFAULT_LEASE_MS: Final = 10_000
DEFAULT_KEEP_ALIVE: Final = 4
"""How many KEEP_ALIVEs a silent node sends in a lease."""
DEFAULT_HANDSHAKE_TIMEOUT_MS: Final = 10_000
"""The limit of the duration of a handshake, for the connecting and the accepting node."""
DEFAULT_QUERY_TIMEOUT_MS: Final = 10_000
DEFAULT_INTEREST_TIMEOUT_MS: Final = 10_000
DEFAULT_JOIN_INTERVAL_MS: Final = 2_500
DEFAULT_SCOUTING_TIMEOUT_MS: Final = 3_000
