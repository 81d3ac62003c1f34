"""Follows a growing recording into a lake in a store: `following.py FOLDER LAKE`.

It is a process of its own because workers of Spark have the environment of its start.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.lake.follow.test_follow import recording_of
from zenlake.lake.follow.follower import Follower
from zenlake.lake.follow.settings import Settings
from zenlake.lake.publish import Store
from zenlake.lake.spark import QUICK_START, session

STEPS = 18
"""More versions than small files of a table that are joined."""
NAME = "pubsub_router.pcapng"


def main() -> int:
    folder, lake = sys.argv[1:]
    spark = session("local[2]", **QUICK_START)
    recording, store = recording_of(Path(folder), NAME), Store(lake)
    with store.begin() as run:
        settings = Settings(window_samples=20, keep_s=0.0)
        follower = Follower(str(recording.folder), store, run, spark, settings)
        with follower.opened():
            for _ in range(STEPS):
                recording.grow(len(recording.packets) // STEPS)
                follower.step()
            recording.finish()
            follower.step()
            assert follower.compare_all_samples() is not None
    return 0


if __name__ == "__main__":
    sys.exit(main())
