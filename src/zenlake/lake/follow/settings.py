"""Settings of a follower, and what it reports about each version."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from zenlake.lake.follow.growing_reader import ROWS_MAX
from zenlake.lake.follow.old_files import KEEP_SECONDS
from zenlake.limits import (
    DERIVE_BYTES_MAX,
    FOLLOW_COMPARED_SAMPLES_MAX,
    FOLLOW_PENDING_EVENTS_MAX,
    FOLLOW_REPLAY_BYTES_MAX,
    FOLLOW_WINDOW_SAMPLES_MAX,
)

EVERY_SECONDS: Final = 3.0
SETTLE_SECONDS: Final = 60.0
SETTLE_EVENTS: Final = 50_000
"""Fewer events are derived again faster than they are settled."""


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
    """Rows are settled so long after their end."""
    settle_events: int = SETTLE_EVENTS
    """With more events, rows are settled."""
    pending_events: int = FOLLOW_PENDING_EVENTS_MAX
    """With more events that cannot be settled, the oldest are given up."""
    window_samples: int = FOLLOW_WINDOW_SAMPLES_MAX
    """Recent samples that are compared with each other in every version."""
    compared_samples: int = FOLLOW_COMPARED_SAMPLES_MAX
    """Samples of a capture that are compared with each other when the follower is stopped; at the
    end of the recording there is no limit."""
    until_end: bool = False
    """Whether to stop when the recording was closed in order."""
    state: str | None = None
    """The folder for what is kept between two versions, if the lake is in a store."""


@dataclass
class Progress:
    """After a version was published."""

    version: int
    batch: int
    packets: int
    messages: int
    last_ns: int | None
    seconds: dict[str, float] = field(default_factory=dict)
