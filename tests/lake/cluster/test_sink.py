"""R11: tasks of the sink that run several times, on a cluster: every row arrives, and a copy of a
row has the key, value and timestamp of the first."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.lake.cluster.standalone import Cluster, environment
from tests.sink.conftest import Received, received, router

__all__ = ["received", "router"]

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.real]

ROWS = 4_000
PARTITIONS = 4
ATTEMPTS = 4
FAIL = "if attempts < 3: raise ValueError('this attempt fails')"
WAIT = "if attempts < 1: time.sleep(60)"
SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.5",
}

_WRITE = """
import json, os, sys, time
from pyspark.sql import SparkSession

master, endpoint, folder, rows, partitions, settings, behaviour = sys.argv[1:]
builder = SparkSession.builder.master(master)
for name, value in json.loads(settings).items():
    builder = builder.config(name, value)
spark = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()
frame = spark.range(0, int(rows), 1, int(partitions))
frame = frame.selectExpr("concat('sink/', id) AS key", "CAST(id AS STRING) AS value")

def pass_on(batches):
    for number, batch in enumerate(batches):
        yield batch
    # The last partition behaves badly after its rows were handed to the sink.
    if batch.column(0)[-1].as_py() == f"sink/{int(rows) - 1}":
        attempts = len(os.listdir(folder))
        open(os.path.join(folder, str(time.time_ns())), "x").close()
        exec(behaviour)

frame = frame.mapInArrow(pass_on, frame.schema)
frame.write.format("zenoh").mode("append").option("connect", endpoint).save()
"""


def write(cluster: Cluster, endpoint: str, folder: Path, behaviour: str, **settings: str) -> None:
    given = [cluster.url, endpoint, str(folder), str(ROWS), str(PARTITIONS)]
    command = [sys.executable, "-c", _WRITE, *given, json.dumps(settings), behaviour]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize(
    ("behaviour", "settings"),
    [(FAIL, {"spark.task.maxFailures": str(ATTEMPTS)}), (WAIT, SPECULATION)],
    ids=["task fails three times", "task runs twice at once"],
)
def test_copies_of_rows_have_equal_timestamps(
    cluster: Cluster,
    router: str,
    received: Received,
    tmp_path: Path,
    behaviour: str,
    settings: dict[str, str],
) -> None:
    write(cluster, router, tmp_path, behaviour, **settings)
    attempts = len([*tmp_path.iterdir()])
    assert attempts == (ATTEMPTS if behaviour is FAIL else 2)
    copies = (attempts - 1) * ROWS // PARTITIONS
    samples = received.wait_at_least(ROWS)
    sent = Counter((str(s.key_expr), s.payload.to_string(), str(s.timestamp)) for s in samples)
    assert len(sent) == ROWS
    assert {key: value for key, value, _ in sent} == {f"sink/{n}": str(n) for n in range(ROWS)}
    assert len(samples) <= ROWS + copies
    assert max(sent.values()) <= attempts
