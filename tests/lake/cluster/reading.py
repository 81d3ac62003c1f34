"""Reads captures into a lake in a separate process, on any master, with a given number of splits.

python reading.py MASTER LAKE SPLITS SETTINGS CAPTURE...
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def _in_splits(count: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Replaces the first task by one with a fixed number of splits for each large file."""

    def survey(job: dict[str, Any]) -> dict[str, Any]:
        from zenlake.lake.pipeline.survey_captures import survey_captures
        from zenlake.lake.plan import survey_task

        vars(survey_task)["SPLIT_BYTES"] = 1
        captures = [{**one, "tasks": count} for one in job["captures"]]
        return survey_captures({**job, "captures": captures})

    return survey


def main() -> int:
    from zenlake.lake.pipeline import pipeline
    from zenlake.lake.spark import session

    master, lake, splits, settings, *inputs = sys.argv[1:]
    assert "survey_captures" in vars(pipeline)
    vars(pipeline)["survey_captures"] = _in_splits(int(splits))
    spark = session(master, **json.loads(settings))
    outcome = pipeline.run(inputs, Path(lake), spark)
    assert not outcome.failed, outcome.failed
    assert not outcome.damaged
    # Tables that span splits are derived if there are splits.
    assert ("derive" in outcome.seconds) == (int(splits) > 1)
    print(master, splits, f"{outcome.messages:,}", outcome.seconds, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
