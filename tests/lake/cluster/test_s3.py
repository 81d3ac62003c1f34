"""A cluster with captures and lake in an object store: its workers share no folder.

With `pytest -s` the test prints its commands, and the rows of each table in both lakes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from tests.lake.cluster.standalone import WORKER_HOSTS, Cluster, environment
from tests.lake.s3 import server
from tests.lake.source.reading import rows
from zenlake.lake.address import parse
from zenlake.lake.publish import Store
from zenlake.lake.schema import TABLES


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Starts the server, and sets its environment for this process and its children."""
    with server.running() as port, pytest.MonkeyPatch.context() as patch:
        for name, value in server.environment(port).items():
            patch.setenv(name, value)
        yield port


def run(*arguments: str) -> None:
    print(f"\n$ zenlake pipeline {' '.join(arguments)}", flush=True)
    command = [sys.executable, "-m", "zenlake.cli.main", "pipeline", *arguments, "--json"]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    found = json.loads(done.stdout)
    steps = ", ".join(f"{name} {took:.1f} s" for name, took in found["steps"].items())
    print(f"{len(found['read'])} captures, {found['messages']:,} messages; {steps}", flush=True)


def rows_of(lake: str, table: str) -> list[str]:
    snapshot = Store(lake).snapshot()
    files = [one.fs_path for one in snapshot.addresses(table)]
    schema = TABLES[table].arrow.remove_metadata()
    filesystem = parse(lake).filesystem
    found: pa.Table = ds.dataset(files, schema, format="parquet", filesystem=filesystem).to_table()
    # A capture is named by its address, which differs in the store.
    names = [os.path.basename(name) for name in found["capture"].to_pylist()]
    column = found.column_names.index("capture")
    return rows(found.set_column(column, "capture", pa.array(names)))


def test_rows_are_those_of_a_local_lake(
    store: int, inputs: list[str], large: str, tmp_path: Path
) -> None:
    folder, _ = inputs
    for file in sorted(Path(folder).iterdir()):
        if file.is_file() and ".pcap" in file.name:
            server.put(store, file, f"captures/{file.name}")
    server.put(store, Path(large), "captures/large.pcapng")
    here = str(tmp_path / "lake")
    run(folder, large, "--lake", here)
    there = f"s3a://{server.BUCKET}/robots.lake"
    (tmp_path / "cluster").mkdir()
    with Cluster(tmp_path / "cluster") as cluster:
        print(
            f"\na cluster of {len(WORKER_HOSTS)} workers without a shared folder at {cluster.url}"
        )
        run(f"s3://{server.BUCKET}/captures", "--lake", there, "--master", cluster.url)
    print(f"\n{'table':<16}{'local':>10}{'S3':>10}")
    different = []
    for table in TABLES:
        expected, found = rows_of(here, table), rows_of(there, table)
        is_equal = found == expected
        print(f"{table:<16}{len(expected):>10,}{len(found):>10,}  {'equal' if is_equal else '!'}")
        if not is_equal:
            different.append(table)
        assert expected or table == "violations"
    assert not different
