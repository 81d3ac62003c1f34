"""The ids of messages, in the low bits of their first byte, for code that reads no more of them.

They are plain numbers, so that compiled code reads them as constants. A test compares them with
the definitions.
"""

from __future__ import annotations

from typing import Final

ID_BITS: Final = 0x1F

# Scouting.
SCOUT_ID: Final = 0x01
HELLO_ID: Final = 0x02

# Transport messages.
INIT_ID: Final = 0x01
OPEN_ID: Final = 0x02
CLOSE_ID: Final = 0x03
KEEP_ALIVE_ID: Final = 0x04
FRAME_ID: Final = 0x05
FRAGMENT_ID: Final = 0x06

# Network messages.
NETWORK_ID_MIN: Final = 0x19
"""Ids of network messages begin here; those of transport messages are smaller."""
RESPONSE_ID: Final = 0x1B
REQUEST_ID: Final = 0x1C
PUSH_ID: Final = 0x1D
