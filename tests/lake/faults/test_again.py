"""The same file again, a changed file, and a new file."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.lake.comparison import counts, differences
from tests.lake.faults.captures import A, B
from tests.lake.faults.conftest import Lakes
from tests.lake.faults.leftovers import leftovers
from zenlake.cli.main import main
from zenlake.lake.pipeline import run
from zenlake.lake.publish import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.xdist_group("faults")


def test_same_file_again_adds_no_version(tmp_path: Path, lakes: Lakes, spark: SparkSession) -> None:
    lake = lakes.copy(tmp_path / "lake")
    for given in ([A], [A, A], [A, str(tmp_path / "none.pcap")]):
        outcome = run(given, lake, spark)
        assert (outcome.read, outcome.unchanged, outcome.version) == ([], [A], 1)
    assert Store(lake).version() == 1
    assert differences(lake, lakes.old) == {}
    assert leftovers(lake) == []


@pytest.mark.usefixtures("spark")
def test_command_reports_unchanged_captures(
    lakes: Lakes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lake = lakes.copy(tmp_path / "lake")
    assert main(["pipeline", A, "--lake", str(lake), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["version"], found["read"], found["unchanged"]) == (1, [], [A])


def test_changed_file_replaces_its_rows(tmp_path: Path, lakes: Lakes, spark: SparkSession) -> None:
    """The file has the content of B, then the same bytes with a new time, then the content of A."""
    lake = lakes.copy(tmp_path / "lake")
    path = tmp_path / "one.pcapng.gz"
    shutil.copy(B, path)
    assert run([str(path)], lake, spark).read == [str(path)]
    assert counts(lake) == counts(lakes.new)
    path.touch()
    assert run([str(path)], lake, spark).unchanged == [str(path)]
    path.write_bytes(gzip.compress(gzip.decompress(Path(A).read_bytes()), mtime=0))
    assert run([str(path)], lake, spark).read == [str(path)]
    assert counts(lake) == {table: 2 * rows for table, rows in counts(lakes.old).items()}
    assert Store(lake).version() == 3
