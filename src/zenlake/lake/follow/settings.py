"""Settings of a follower, and its progress report for each version."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from zenlake.lake.follow.defaults import EVERY_SECONDS, KEEP_SECONDS
from zenlake.lake.follow.growing_reader import ROWS_MAX
from zenlake.limits import (
    DERIVE_BYTES_MAX,
    FOLLOW_COMPARED_SAMPLES_MAX,
    FOLLOW_PENDING_EVENTS_MAX,
    FOLLOW_REPLAY_BYTES_MAX,
    FOLLOW_WINDOW_SAMPLES_MAX,
)

SETTLE_SECONDS: Final = 60.0
SETTLE_EVENTS: Final = 50_000
"""With fewer events, deriving all rows again is faster than settling."""


@dataclass(frozen=True)
class Settings:
    every_s: float = EVERY_SECONDS
    keep_s: float = KEEP_SECONDS
    """Files of older versions are deleted after this time."""
    memory_bytes: int = DERIVE_BYTES_MAX
    rows_max: int = ROWS_MAX
    replay_bytes: int = FOLLOW_REPLAY_BYTES_MAX
    """Bytes of the recording that are read again at the start."""
    settle_s: float = SETTLE_SECONDS
    """The time between the end of a row and its settling."""
    settle_events: int = SETTLE_EVENTS
    """The number of events above which rows are settled."""
    pending_events: int = FOLLOW_PENDING_EVENTS_MAX
    """The number of events that cannot be settled, above which the oldest are given up."""
    window_samples: int = FOLLOW_WINDOW_SAMPLES_MAX
    """The number of recent samples that every version compares with each other."""
    compared_samples: int = FOLLOW_COMPARED_SAMPLES_MAX
    """If a capture has at most so many samples, all are compared when the follower is stopped; at
    the end of the recording they always are."""
    until_end: bool = False
    """Whether to stop at the end of a recording that was closed in order."""
    state: str | None = None
    """The folder for the state between two versions, if the lake is in a store."""


@dataclass
class Progress:
    """The report of a published version."""

    version: int
    batch: int
    packets: int
    messages: int
    last_ns: int | None
    seconds: dict[str, float] = field(default_factory=dict)
