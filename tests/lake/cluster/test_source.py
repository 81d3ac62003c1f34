"""`format("zenoh")` on a cluster: workers with separate folders read the same rows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.lake.cluster.standalone import MASTER_HOST, Cluster, environment
from tests.lake.source.reading import read, rows
from tests.paths import CAPTURES

pytestmark = pytest.mark.xdist_group("spark")

_READ = """
import sys
from zenlake.lake.spark import session

master, path, table, out = sys.argv[1:]
read = session(master).read.format("zenoh").option("table", table).option("partitions", "4")
frame = read.load(path)
frame.write.parquet(out)
print(frame.rdd.getNumPartitions())
"""


@pytest.mark.parametrize(
    ("table", "is_large", "tasks"), [("samples", True, "1"), ("queries", False, "4")]
)
def test_cluster_reads_the_expected_rows(
    table: str, is_large: bool, tasks: str, cluster: Cluster, large: str, tmp_path: Path
) -> None:
    path = large if is_large else str(CAPTURES)
    command = [sys.executable, "-c", _READ, cluster.url, path, table, str(tmp_path / "out")]
    variables = {**environment(), "SPARK_LOCAL_IP": MASTER_HOST}
    found = subprocess.run(command, env=variables, cwd=tmp_path, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert found.stdout.strip() == tasks
    written: pa.Table = pq.read_table(tmp_path / "out")
    assert rows(written) == rows(read(path, table))
