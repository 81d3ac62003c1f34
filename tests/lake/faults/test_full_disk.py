"""A disk that is full at any step: the error has one line, and the old tables are unchanged."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chance import IS_FULL
from tests.lake.comparison import differences
from tests.lake.faults.captures import A, B
from tests.lake.faults.conftest import Lakes
from tests.lake.faults.leftovers import leftovers
from zenlake.cli.main import main

pytestmark = pytest.mark.xdist_group("faults")

DISK_BYTES = 4 << 20
FREE_KILOBYTES = [0, 32, 64, 96, 128, 144, 160, 176, 192, 208, 224, 240] if IS_FULL else [0, 176]
"""Too little space for the first step, for reading, for deriving, for publishing."""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(place)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no right to mount")
    yield place
    # Java may still have a file open that it could not write.
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.usefixtures("spark")
def test_disk_that_is_full_at_any_step_keeps_the_old_tables(
    disk: Path, lakes: Lakes, capfd: pytest.CaptureFixture[str]
) -> None:
    lake = lakes.copy(disk / "lake")
    filler = disk / "filler"
    failed = 0
    for kilobytes in FREE_KILOBYTES:
        state = os.statvfs(disk)
        filler.write_bytes(bytes(state.f_bavail * state.f_bsize - kilobytes * 1024))
        code = main(["pipeline", A, B, "--lake", str(lake), "--json"])
        said = capfd.readouterr().err.splitlines()
        filler.unlink()
        if code == 0:
            break
        failed += 1
        assert code == 2, kilobytes
        assert len(said) == 1, said
        assert "No space left on device" in said[0], kilobytes
        assert differences(lake, lakes.old) == {}
        assert leftovers(lake) == []
    assert failed > 1
    if IS_FULL:
        assert main(["pipeline", A, B, "--lake", str(lake), "--json"]) == 0
        assert differences(lake, lakes.new) == {}
