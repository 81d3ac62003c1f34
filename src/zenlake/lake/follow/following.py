"""Following: reads recordings into a lake until a stop is requested or all recordings end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

from zenlake.lake.follow.follower import Follower, Note
from zenlake.lake.follow.settings import Progress, Settings
from zenlake.lake.publish import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STOP_SECONDS_MAX: Final = 60.0
"""After a stop, a follower reads what was recorded until then, but not for longer than this.
The next follower continues there."""
_LOOK_SECONDS: Final = 0.1


class Stop:
    """A request to stop. It needs no lock, so that a signal handler may make it."""

    def __init__(self) -> None:
        self.is_requested = False

    def request(self) -> None:
        self.is_requested = True

    def wait(self, seconds: float) -> None:
        """Returns early if a stop is requested."""
        until = time.monotonic() + seconds
        while not self.is_requested and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, _LOOK_SECONDS))


def follow(
    paths: Sequence[str],
    lake: str | os.PathLike[str],
    spark: SparkSession,
    stop: Stop,
    settings: Settings | None = None,
    on_version: Callable[[str, Progress], None] = lambda path, progress: None,
    note: Note = lambda text: None,
) -> int:
    """Follows recordings until `stop` is set, and then reads what was recorded until then.

    `note` is called with lines for the user. Returns the number of the last version.
    """
    settings = settings or Settings()
    store = Store(lake)
    with store.begin() as run, ExitStack() as opened:
        followers = {path: Follower(path, store, run, spark, settings, note) for path in paths}
        for follower in followers.values():
            opened.enter_context(follower.opened())
        deadline: float | None = None
        while followers:
            began = time.monotonic()
            if stop.is_requested and deadline is None:
                deadline = began + STOP_SECONDS_MAX
            for path, follower in [*followers.items()]:
                progress = follower.step()
                if progress is not None:
                    on_version(path, progress)
                is_late = deadline is not None and time.monotonic() > deadline
                if is_late or _is_done(follower, deadline, settings):
                    # The user who stops a follower should not wait for millions of samples.
                    samples_max = settings.compared_samples if stop.is_requested else None
                    progress = follower.compare_all_samples(samples_max)
                    if progress is not None:
                        on_version(path, progress)
                    del followers[path]
            if all(one.is_complete for one in followers.values()) and deadline is None:
                stop.wait(max(0.0, settings.every_s - (time.monotonic() - began)))
    return store.version() or 0


def _is_done(follower: Follower, deadline: float | None, settings: Settings) -> bool:
    if not follower.is_complete:
        return False
    return deadline is not None or (settings.until_end and follower.is_ended)
