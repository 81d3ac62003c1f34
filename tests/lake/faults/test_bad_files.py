"""A file that is not a capture, or a truncated one, does not stop the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lake.faults.captures import A, B
from tests.lake.faults.conftest import Lakes
from tests.lake.faults.leftovers import leftovers
from tests.lake.faults.rough import RoughRun, bad_files
from zenlake.cli.main import main
from zenlake.lake.publish import Store

pytestmark = pytest.mark.xdist_group("faults")


def test_other_files_are_read(rough: RoughRun) -> None:
    assert rough.code == 1
    entries = Store(rough.lake).manifest().captures
    assert {A, B} <= entries.keys()
    for path, cause in rough.bad.items():
        name = Path(path).name.encode("utf-8", "replace").decode()
        lines = [line for line in rough.complaints if f"/{name}: " in line or cause == "UTF-8"]
        if cause:
            assert path not in entries
            assert any(cause in line for line in lines), path
        else:
            assert path in entries or len(lines) == 1, path
    assert len(rough.complaints) == len(rough.bad.keys() - entries.keys())
    for name in ("cut.pcapng", "cut.pcapng.gz"):
        assert 0 < entries[rough.path(name)].rows["messages"] < entries[B].rows["messages"]
    assert leftovers(rough.lake) == []


@pytest.mark.usefixtures("spark")
def test_run_without_readable_files_fails(
    tmp_path: Path, lakes: Lakes, capsys: pytest.CaptureFixture[str]
) -> None:
    lake = lakes.copy(tmp_path / "lake")
    bad = [path for path, cause in bad_files(tmp_path).items() if cause]
    assert main(["pipeline", *bad, "--lake", str(lake)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == len(bad)
    assert Store(lake).version() == 1
    # No lake is created.
    assert main(["pipeline", *bad, "--lake", str(tmp_path / "none")]) == 2
    assert Store(tmp_path / "none").version() is None
    assert leftovers(tmp_path / "none") == []


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("name", ["folder", "-"])
def test_inputs_that_cannot_be_captures_are_errors(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder" / "inner.pcap").mkdir(parents=True)
    path = name if name == "-" else str(tmp_path / name)
    assert main(["pipeline", path, B, "--lake", str(tmp_path / "lake")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
