"""Follows a recording to its end, on a cluster: `following.py MASTER RECORDING LAKE SETTINGS`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.lake.cluster.standalone import MASTER_HOST, environment


def start(master: str, recording: Path, lake: Path, **settings: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, __file__, master, str(recording), str(lake), json.dumps(settings)]
    variables = {**environment(), "SPARK_LOCAL_IP": MASTER_HOST}
    return subprocess.Popen(command, env=variables, cwd=lake.parent)


def main() -> int:
    from zenlake.lake.follow.following import Stop, follow
    from zenlake.lake.follow.settings import Settings
    from zenlake.lake.spark import session

    master, recording, lake, settings = sys.argv[1:]
    spark = session(master, **json.loads(settings))
    follow([recording], lake, spark, Stop(), Settings(every_s=0.1, until_end=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
