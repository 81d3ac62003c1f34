"""Captures into a lake by a process of its own, on any master, in as many splits as told.

python reading.py MASTER LAKE SPLITS SETTINGS CAPTURE...
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.lake.cluster.standalone import MASTER_HOST, environment


def start(
    master: str, lake: Path, inputs: list[str], splits: int, **settings: str
) -> subprocess.Popen[bytes]:
    command = [sys.executable, __file__, master, str(lake), str(splits), json.dumps(settings)]
    variables = {**environment(), "SPARK_LOCAL_IP": MASTER_HOST}
    return subprocess.Popen(command + inputs, env=variables, cwd=lake.parent)


def read(master: str, lake: Path, inputs: list[str], splits: int, **settings: str) -> None:
    with start(master, lake, inputs, splits, **settings) as child:
        assert child.wait() == 0


def _in_splits(count: int) -> Callable[[dict[str, object]], dict[str, object]]:
    """The first task, which then says that a surveyed file is to be read by so many tasks."""

    def survey(job: dict[str, object]) -> dict[str, object]:
        from zenlake.lake.pipeline.survey_task import survey_capture

        found = survey_capture(job)
        return {**found, "splits": count} if found.get("splits") else found

    return survey


def main() -> int:
    from zenlake.lake.pipeline import pipeline
    from zenlake.lake.spark import session

    master, lake, splits, settings, *inputs = sys.argv[1:]
    vars(pipeline)["survey_capture"] = _in_splits(int(splits))
    spark = session(master, **json.loads(settings))
    outcome = pipeline.run(inputs, Path(lake), spark)
    assert not outcome.failed, outcome.failed
    assert not outcome.damaged
    print(master, splits, f"{outcome.messages:,}", outcome.seconds, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
