"""Why a kernel returned, as numbers."""

from __future__ import annotations

from typing import Final

END: Final = 0
"""Everything is read."""
FULL: Final = 1
"""There is no room for more output: make room and call again."""
SPECIAL: Final = 2
"""A block that Python must read."""
CUT: Final = 3
"""The file ends within a record."""
DAMAGED: Final = 4
UNKNOWN_INTERFACE: Final = 5
TOO_LONG: Final = 6
BAD_TIME: Final = 7
BAD_OPTIONS: Final = 8
FRAGMENTED: Final = 9
NEW_PAIR: Final = 10

CAUSES: Final = {
    DAMAGED: "records are damaged",
    UNKNOWN_INTERFACE: "a packet is of an interface that is not there",
    TOO_LONG: "a packet is longer than its block or the limit",
    BAD_TIME: "times are too far apart, too fine or beyond 64 bits",
    BAD_OPTIONS: "options overrun their block",
    FRAGMENTED: "TCP came in IP fragments",
    NEW_PAIR: "there is a connection that the survey did not see",
}
"""Why a file is left to the exact reader."""
