"""Letting other threads run in the middle of long compiled work.

Python takes the GIL from a thread every 5 ms if others wait for it, but only at certain points of
interpreted code. Compiled code has none: a loop over 30,000 messages would stop all other threads
until its end. This module is therefore never compiled.
"""

from __future__ import annotations

from typing import Final

CHECKPOINT_MASK: Final = 0xFF
"""Loops call `gil_checkpoint` after every 256 messages, which take less than a millisecond."""


def gil_checkpoint() -> None:
    """Enter interpreted code, which is such a point; costs about 30 ns."""
