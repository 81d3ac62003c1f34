"""The class-data archive of Java: its place and creation; Spark works without it too."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="needs zenlake[lake]")

import pyarrow.parquet as pq

from zenlake.lake import class_archive
from zenlake.lake import spark as spark_module
from zenlake.lake.class_archive import ARCHIVES_KEPT, RETRY_SECONDS, SWITCH, archive_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JAVA = 'openjdk version "17.0.15"'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(SWITCH, raising=False)
    home = tmp_path / "spark"
    (home / "jars").mkdir(parents=True)
    return str(home)


def path_of(home: str, java: str = JAVA) -> Path:
    found = archive_path(java, home)
    assert found is not None
    return found


def write(path: Path, age: float = 0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"archive")
    path.chmod(0o600)
    os.utime(path, (time.time() - age,) * 2)


def test_each_java_and_spark_has_its_own_archive(home: str) -> None:
    first = path_of(home)
    assert first == path_of(home)
    assert first != path_of(home, JAVA.replace("15", "16"))
    os.utime(Path(home, "jars"), (1, 1))  # another jar
    assert first != path_of(home)


@pytest.mark.parametrize("value", ["off", "OFF", "0", "no", "false"])
def test_archive_can_be_disabled(home: str, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(SWITCH, value)
    assert archive_path(JAVA, home) is None


def test_no_archive_without_a_folder_for_it(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/a:b")
    assert archive_path(JAVA, home) is None
    monkeypatch.setenv("XDG_CACHE_HOME", "/a")
    assert archive_path(JAVA, "/no/spark/here") is None


def test_archive_that_others_can_write_is_not_used(home: str) -> None:
    archive = path_of(home)
    assert class_archive.java_options(archive) == ""
    assert class_archive.java_options(None) == ""
    write(archive)
    assert f"-XX:SharedArchiveFile={archive}" in shlex.split(class_archive.java_options(archive))
    archive.chmod(0o666)
    assert class_archive.java_options(archive) == ""


def test_archive_is_made_once_in_the_retry_interval(home: str) -> None:
    archive = path_of(home)
    archive.parent.mkdir(parents=True)
    assert class_archive._claim(archive)
    assert not class_archive._claim(archive)
    long_ago = time.time() - RETRY_SECONDS - 1
    os.utime(archive.with_suffix(".attempt"), (long_ago, long_ago))
    assert class_archive._claim(archive)


def test_folder_that_cannot_be_created_is_not_an_error(
    home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_process(*arguments: Any, **options: Any) -> None:
        raise AssertionError("nothing may be started")

    monkeypatch.setattr(subprocess, "Popen", no_process)
    (tmp_path / "cache").write_text("a file")
    class_archive._start_maker(path_of(home))


def test_the_archive_appears_whole_or_not_at_all(
    home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = path_of(home)
    for number in range(ARCHIVES_KEPT + 1):
        write(archive.with_name(f"spark-{number}.jsa"), age=number)
    abandoned = archive.parent / "making-abandoned"
    abandoned.mkdir()
    os.utime(abandoned, (1, 1))
    seen = []

    def java(command: list[str], **options: Any) -> None:
        assert options["env"][SWITCH] == "off"
        Path(command[-1]).write_bytes(b"archive")
        seen.append(archive.exists())

    assert class_archive._claim(archive)
    monkeypatch.setattr(subprocess, "run", java)
    assert class_archive.make(archive)
    assert seen == [False]
    # The others were used earlier; their number is bounded.
    kept = {f"spark-{number}.jsa" for number in range(ARCHIVES_KEPT - 1)}
    assert {one.name for one in archive.parent.iterdir()} == {archive.name, *kept}


def test_failed_archive_leaves_no_file(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = path_of(home)
    monkeypatch.setattr(subprocess, "run", lambda *arguments, **options: None)
    assert not class_archive.make(archive)
    assert list(archive.parent.iterdir()) == []


def test_java_ignores_a_damaged_archive_silently(home: str) -> None:
    archive = path_of(home)
    write(archive)
    options = shlex.split(class_archive.java_options(archive))
    java = (
        os.path.join(os.environ["JAVA_HOME"], "bin/java") if "JAVA_HOME" in os.environ else "java"
    )
    said = subprocess.run([java, *options, "-version"], capture_output=True, text=True)
    assert said.returncode == 0
    assert said.stdout == ""
    assert said.stderr == spark_module._check_java().replace(", sharing", "")


def test_archive_has_the_classes_of_queries_and_streams(
    spark: SparkSession, tmp_path: Path
) -> None:
    """An error in it would only make the archive smaller."""
    class_archive._run_queries(spark, tmp_path)
    assert pq.read_table(tmp_path / "rows").num_rows > 0
    assert pq.read_table(tmp_path / "stream").num_rows > 0
