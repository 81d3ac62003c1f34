"""Spark Connect: the pipeline and its tables from a client without Java."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli import sql_lake
from tests.lake.cluster.standalone import MASTER_HOST, Service, environment
from tests.lake.comparison import differences
from tests.lake.source.live.rotated import read_packets, write_rotated
from tests.lake.source.live.stored_stream import STORED
from tests.lake.source.live.streams import Stream
from tests.paths import CAPTURES
from tests.sink.conftest import Received, received, router

__all__ = ["received", "router"]

pytestmark = pytest.mark.xdist_group("spark")

INPUTS = [str(CAPTURES / name) for name in ("queries.pcapng.gz", "routers_ring.pcapng.gz")]
ASK = "SELECT count(*) AS n FROM messages"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with socket.socket() as free:
        free.bind((MASTER_HOST, 0))
        port = free.getsockname()[1]
    settings = {
        "spark.connect.grpc.binding.address": MASTER_HOST,
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.host": MASTER_HOST,
        "spark.driver.bindAddress": MASTER_HOST,
        "spark.ui.enabled": "false",
    }
    given = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    service = Service(
        tmp_path_factory.mktemp("connect") / "server.log",
        "org.apache.spark.deploy.SparkSubmit",
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer"),
        *("--master", "local[2]", *given, "spark-internal"),
    )
    try:
        service.wait_for(re.compile("Spark Connect server started"))
        yield f"sc://{MASTER_HOST}:{port}"
    finally:
        service.stop()


def zenlake(*arguments: str) -> str:
    command = [sys.executable, "-m", "zenlake.cli.main", *arguments]
    found = subprocess.run(command, env=environment(), capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_pipeline_runs_and_its_tables_are_readable(server: str, tmp_path: Path) -> None:
    lakes: dict[str, Path] = {}
    for master in (server, "local[2]"):
        lake = lakes[master] = tmp_path / str(len(lakes))
        zenlake("pipeline", *INPUTS, "--lake", str(lake), "--master", master, "--quiet")
    remote, local = lakes.values()
    assert differences(remote, local) == {}
    asked = ("sql", "--lake", str(remote), "--json", ASK)
    assert zenlake(*asked, "--master", server) == zenlake(*asked)


def test_statement_that_runs_code_is_refused(server: str, tmp_path: Path) -> None:
    lake = str(sql_lake.make(tmp_path / "lake").directory)
    asked = ("sql", "--lake", lake, "--master", server, "--csv")
    assert zenlake(*asked, "SELECT '${env:HOME}' AS x") == "x\n${env:HOME}\n"
    command = [sys.executable, "-m", "zenlake.cli.main", *asked, "SELECT reflect('a.B', 'c')"]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True)
    assert done.returncode == 2
    cause = "the function reflect is not allowed: it runs Java code"
    assert done.stderr == f"zenlake: SQL line 1, column 8: {cause}\n"


def test_catalog_tables_work_and_relative_paths_are_refused(server: str) -> None:
    """A catalog table works as in a classic session; relative paths mean nothing over Connect."""
    command = [sys.executable, "-c", _TABLES, server, *INPUTS]
    found = subprocess.run(command, env=environment(), capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    count, relative, stream = found.stdout.splitlines()
    assert count == "160"
    assert "'captures/a.pcap' is a relative path, and this Spark (Connect) plans in a" in relative
    assert "is a file: a stream follows a folder" in stream
    assert "Traceback" not in relative + stream


def test_rows_are_published(server: str, router: str, received: Received) -> None:
    command = [sys.executable, "-c", _PUBLISH, server, router]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    values = {str(one.key_expr): one.payload.to_string() for one in received.wait(1_000)}
    assert values == {f"sink/{n}": str(n) for n in range(1_000)}
    assert "option connect is missing" in done.stdout
    assert "Traceback" not in done.stdout


_PUBLISH = """
import sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
frame = spark.range(1000).selectExpr("concat('sink/', id) AS key", "CAST(id AS STRING) AS value")
frame.write.format("zenoh").mode("append").option("connect", sys.argv[2]).save()
try:
    frame.write.format("zenoh").mode("append").save()
except Exception as error:
    print(" ".join(error.getMessage().split()))
"""

_TABLES = """
import sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
spark.sql(f"CREATE TABLE t USING zenoh OPTIONS (table 'queries') LOCATION '{sys.argv[2]}'")
print(spark.table("t").count())
spark.sql("DROP TABLE t")

def fail(ask):
    try:
        ask()
    except Exception as error:
        print(" ".join(error.getMessage().split()))

fail(lambda: spark.read.format("zenoh").load("captures/a.pcap").count())
stream = spark.readStream.format("zenoh").load(sys.argv[2])
fail(lambda: stream.writeStream.format("noop").start().awaitTermination(60))
"""


def test_stream_of_a_recording_works(server: str, tmp_path: Path) -> None:
    recording = str(STORED / "recording")
    command = [sys.executable, "-c", _STREAM, server, recording, str(tmp_path)]
    found = subprocess.run(command, env=environment(), capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert found.stdout.split() == ["781", "781"]


def test_stream_of_rotated_captures_works(server: str, tmp_path: Path) -> None:
    folder = tmp_path / "captures"
    folder.mkdir()
    write_rotated(folder, read_packets("queries.pcapng.gz"), 250, "pcap")
    for table in ("messages", "replies"):
        output = tmp_path / table
        command = [sys.executable, "-c", _STREAM, server, str(folder), str(output), table]
        found = subprocess.run(command, env=environment(), capture_output=True, text=True)
        assert found.returncode == 0, found.stderr
        count = Stream(folder, table).all().num_rows
        assert found.stdout.split() == [str(count)] * 2


_STREAM = """
import sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
stream = spark.readStream.format("zenoh").option("minPartitions", "3")
stream = stream.option("table", (sys.argv[4:] or ["messages"])[0]).load(sys.argv[2])
for _ in range(2):
    writer = stream.writeStream.format("parquet").trigger(availableNow=True)
    writer = writer.option("checkpointLocation", sys.argv[3] + "/checkpoint")
    writer.start(sys.argv[3] + "/output").awaitTermination(60)
    print(spark.read.parquet(sys.argv[3] + "/output").count())
"""


def test_data_source_needs_no_registration(server: str) -> None:
    """The source supports lists of paths, schemas, filters and functions."""
    command = [sys.executable, "-c", _READ, server, *INPUTS]
    found = subprocess.run(command, env=environment(), capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert found.stdout.split() == ["1192", "176", "1192", "160", "True"]


_READ = """
import sys
from pyspark.sql import SparkSession
from zenlake import lake

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
read = lambda: spark.read.format("zenoh")
print(read().load(sys.argv[2]).count())
print(read().option("Table", "queries").load(sys.argv[2:]).count())
print(read().schema("key string").load(sys.argv[2]).count())
spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
print(read().load(sys.argv[2]).where("kind = 'REQUEST'").count())
print(lake.register(spark).sql("SELECT ke_intersects('a/*', 'a/b') AS x").first().x)
"""
