"""A driver whose tasks may fail: `python retrying.py CAPTURE CALM_LAKE LAKE`.

Reads a capture into two lakes: into the first one undisturbed, into the second one while its
workers are killed. At the end it prints the error of the second run, or nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path

from zenlake.errors import ZenlakeError
from zenlake.lake.pipeline import run
from zenlake.lake.spark import session

SETTINGS = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.multiplier": "1.5",
    "spark.speculation.quantile": "0.5",
}


def main() -> int:
    capture, calm, lake = sys.argv[1:]
    spark = session("local[2,4]", log_level="OFF", **SETTINGS)
    run([capture], Path(calm), spark)
    try:
        outcome = run([capture], Path(lake), spark)
    except ZenlakeError as error:
        print(error)
        return 1
    assert not outcome.failed, outcome.failed
    return 0


if __name__ == "__main__":
    sys.exit(main())
