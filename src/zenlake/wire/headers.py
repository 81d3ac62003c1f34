"""Ids and flags of headers, for code that reads or writes no more of a message.

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

HAS_EXTENSIONS: Final = 0x80
"""Z of a message: extensions follow; in the header of an extension: another one follows."""
IS_ANSWER: Final = 0x20
"""A of INIT and OPEN."""
HAS_SIZES: Final = 0x40
"""S of INIT."""
IS_RELIABLE: Final = 0x20
"""R of FRAME and FRAGMENT."""
MORE_FRAGMENTS: Final = 0x40
"""M of FRAGMENT."""
HAS_SUFFIX: Final = 0x20
"""N of a message with a key: a text follows the number of the key."""
IS_SENDERS_KEY: Final = 0x40
"""M of a message with a key: the number is one that its sender declared."""

# Headers of extensions, without the flag that another one follows.
PRIORITY_EXTENSION: Final = 0x31
"""Of FRAME and FRAGMENT; one byte follows."""
FIRST_EXTENSION: Final = 0x02
"""Of FRAGMENT: the first of a message."""
DROP_EXTENSION: Final = 0x03
"""Of FRAGMENT: the sender gave up the message."""
QOS_EXTENSION: Final = 0x21
"""Of network messages; one byte follows."""

# Bits of the QoS byte of network messages.
PRIORITY_BITS: Final = 0x07
QOS_BLOCK: Final = 0x08
QOS_EXPRESS: Final = 0x10
QOS_BLOCK_FIRST: Final = 0x20
