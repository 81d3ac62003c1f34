"""Captures in a store through Spark: the source, a table with a LOCATION, and the pipeline."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.chance import IS_FULL
from tests.lake.conftest import INTERPRETED
from tests.lake.s3 import in_spark, server
from tests.lake.s3.server import BUCKET
from tests.trace.sidecar import PATHS

pytestmark = [pytest.mark.xdist_group("s3"), pytest.mark.spark]

FOLDER = f"s3a://{BUCKET}/for_spark"


@pytest.fixture(scope="module", autouse=True)
def _captures(s3_port: int) -> None:
    for name in ("queries", "pubsub_router"):
        server.put(s3_port, PATHS[name], f"for_spark/{PATHS[name].name}")


def output(s3_port: int, folder: Path, *command: str) -> str:
    environment = server.with_environment(s3_port)
    done = subprocess.run(
        [sys.executable, *command], env=environment, cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_source_reads_addresses(s3_port: int, tmp_path: Path) -> None:
    location = f"s3://{BUCKET}/for_spark/{{q*,none}}"
    settings = json.dumps({} if IS_FULL else INTERPRETED)
    found = json.loads(output(s3_port, tmp_path, in_spark.__file__, FOLDER, location, settings))
    assert found["queries"] == 160
    assert found["folder"] == found["list"] == sum(found["each"]) > 1192
    assert found["table"] == [f"s3://{BUCKET}/for_spark/queries.pcapng.gz"]
    assert f"{FOLDER}/none.pcap: cannot be opened: No such file or directory" in found["error"]
    assert f"{FOLDER}: this takes paths and file: addresses; captures in" in found["stream"]


def test_pipeline_expands_patterns(s3_port: int, tmp_path: Path) -> None:
    command = ["-m", "zenlake.cli.main", "pipeline", f"{FOLDER}/[a-p]*", "--lake", "lake", "--json"]
    found = json.loads(output(s3_port, tmp_path, *command))
    assert found["read"] == [f"{FOLDER}/{PATHS['pubsub_router'].name}"]
