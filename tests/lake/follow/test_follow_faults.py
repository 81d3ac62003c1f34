"""Faults of `--follow`: each is one clear line, and the next run goes on without a lost row."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.chance import IS_FULL
from tests.lake.follow.comparison import batch_tables, differences
from tests.lake.follow.growing import GrowingRecording
from tests.lake.follow.test_follow import recording_of
from tests.paths import CAPTURES
from tests.small_disk import filled, read_only, small_disk
from zenlake.cli.main import main
from zenlake.lake.errors import LakeError
from zenlake.lake.follow.derive_batch import follow_task
from zenlake.lake.follow.following import Stop, follow
from zenlake.lake.publish import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.xdist_group("streams")

DISK_BYTES = 6 << 20
FREE_OF_LAKE = [0, 16, 48, 96, 128, 160, 192, 224, 256] if IS_FULL else [0, 64, 192]
"""Free space: too little for the first file, the rows that are read, derived tables, the state."""
FREE_OF_STATE = [0, 4, 12, 24] if IS_FULL else [0, 8]


def follow_once(recording: GrowingRecording, lake: Path, spark: Any) -> None:
    """Reads what is recorded and publishes it."""
    stop = Stop()
    stop.request()
    follow([str(recording.folder)], lake, spark, stop)


def refusal(recording: GrowingRecording, lake: Path, spark: SparkSession) -> str:
    """The error of a run; empty if it succeeds."""
    try:
        follow_once(recording, lake, spark)
    except LakeError as error:
        return str(error)
    return ""


def assert_equal_to_batch(recording: GrowingRecording, lake: Path, folder: Path) -> None:
    packets = recording.packets[: recording.written]
    assert differences(lake, batch_tables(folder / "batch", packets)) == {}


@pytest.mark.parametrize(
    ("mounted", "free_kilobytes"),
    [("disk", FREE_OF_LAKE), ("disk/lake/_followed", FREE_OF_STATE)],
    ids=["lake", "state"],
)
def test_full_disk_is_one_line_and_the_next_run_goes_on(
    tmp_path: Path, spark: SparkSession, mounted: str, free_kilobytes: list[int]
) -> None:
    recording = recording_of(tmp_path, "liveliness.pcapng.gz")
    recording.grow(len(recording.packets) // 3)
    lake = tmp_path / "disk" / "lake"
    with small_disk(tmp_path / mounted, DISK_BYTES) as disk:
        follow_once(recording, lake, spark)
        version = Store(lake).version()
        failed = 0
        for kilobytes in free_kilobytes:
            recording.grow(10)
            with filled(disk, kilobytes << 10):
                line = refusal(recording, lake, spark)
            if line:
                failed += 1
                assert "No space left on device" in line, kilobytes
                assert "\n" not in line
                assert failed > 1 or Store(lake).version() == version
        assert failed > 1
        recording.finish()
        follow_once(recording, lake, spark)
        assert_equal_to_batch(recording, lake, tmp_path)


def test_read_only_lake_is_one_line(
    tmp_path: Path, spark: SparkSession, capfd: pytest.CaptureFixture[str]
) -> None:
    recording = recording_of(tmp_path, "liveliness.pcapng.gz")
    recording.grow(50)
    with small_disk(tmp_path / "disk", DISK_BYTES) as disk:
        lake = disk / "lake"
        for _ in range(2):  # a new lake, and one that is there
            with read_only(disk):
                assert command(recording.folder, lake) == 2
                [line] = capfd.readouterr().err.splitlines()
                assert "Read-only file system" in line
            follow_once(recording, lake, spark)
            recording.grow(20)
        follow_once(recording, lake, spark)
        assert_equal_to_batch(recording, lake, tmp_path)


def command(recording: Path, lake: Path, *options: str) -> int:
    return main(["pipeline", "--follow", str(recording), "--lake", str(lake), *options])


def test_bad_input_is_one_line_and_makes_no_lake(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    recording = recording_of(tmp_path, "liveliness.pcapng.gz").folder
    lake, empty, other = (tmp_path / name for name in ("lake", "empty", "other"))
    empty.mkdir()
    other.mkdir()
    (other / "notes.txt").write_text("mine")
    damaged = shutil.copytree(recording, tmp_path / "damaged")
    (damaged / "recording.json").write_text("{")
    nowhere: list[tuple[Path, Path, list[str], str]] = [
        (tmp_path / "none", lake, [], "there is no such folder"),
        (empty, lake, [], "is no recording: it has no recording.json"),
        (CAPTURES, lake, [], "a folder of captures cannot be followed"),
        (damaged, lake, [], "recording.json is damaged"),
        (recording, other, [], "is not empty and is no lake"),
        (recording, lake, ["--state", str(empty)], "this lake has its own"),
    ]
    for source, target, given, words in nowhere:
        assert command(source, target, *given) == 2
        [line] = capfd.readouterr().err.splitlines()
        assert words in line
    for options, words in [
        (["--evry", "3"], "unrecognized arguments: --evry 3"),
        (["--every", "0"], "argument --every: not a number of seconds"),
        (["--keep", "x"], "argument --keep: not a number of seconds"),
    ]:
        with pytest.raises(SystemExit) as caught:
            command(recording, lake, *options)
        assert caught.value.code == 2
        [line] = capfd.readouterr().err.splitlines()
        assert words in line
    for options in (["--until-end"], ["--state", "x"], ["--every", "3"]):
        assert main(["pipeline", str(recording), "--lake", str(lake), *options]) == 2
        assert "need --follow" in capfd.readouterr().err
    assert not lake.exists()


def test_worker_without_the_folder_of_the_state_is_one_line(tmp_path: Path) -> None:
    found = follow_task({"kind": "derive", "staging": str(tmp_path / "elsewhere")})
    assert found["failure"].endswith(": all workers need it under the same path")
