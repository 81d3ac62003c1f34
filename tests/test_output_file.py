"""An output file exists complete or not at all."""

from __future__ import annotations

import os
import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.leftovers import own_cleanups
from zenlake import exit_cleanups, output_file
from zenlake.errors import LocalError
from zenlake.output_file import OutputFile


@contextmanager
def small_files() -> Iterator[None]:
    """Limits files to 4 kB, as on a disk that is nearly full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def write(path: Path | str, data: bytes) -> None:
    with OutputFile(path) as file:
        file.write(data)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "out.bin"


def test_a_file_has_its_name_when_it_is_complete(path: Path) -> None:
    with OutputFile(path) as file:
        file.write(b"a")
        assert not path.exists()
        file.write(b"b")
    assert os.listdir(path.parent) == [path.name]
    assert path.read_bytes() == b"ab"


def test_an_exception_leaves_the_old_file(path: Path) -> None:
    path.write_bytes(b"old")

    def interrupted() -> None:
        with OutputFile(path) as file:
            file.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert os.listdir(path.parent) == [path.name]
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("size", [5_000, 500_000])
def test_a_full_disk_leaves_the_old_file(path: Path, size: int) -> None:
    """The flush raises the error of small files, the write that of large ones."""
    path.write_bytes(b"old")
    with pytest.raises(LocalError) as error, small_files():
        write(path, bytes(size))
    assert str(error.value) == f"{path} cannot be written: File too large"
    assert os.listdir(path.parent) == [path.name]
    assert path.read_bytes() == b"old"


def test_device_is_written_directly() -> None:
    with pytest.raises(LocalError, match="/dev/full cannot be written: No space left"):
        write("/dev/full", b"a")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_pipe_is_written_directly(path: Path) -> None:
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    write(path, b"ab")
    assert os.read(reader, 10) == b"ab"
    os.close(reader)


def test_symbolic_link_and_permissions_are_kept(path: Path) -> None:
    target = path.with_name("target")
    target.write_bytes(b"old")
    target.chmod(0o640)
    path.symlink_to(target)
    write(path, b"new")
    assert path.is_symlink()
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


@pytest.mark.parametrize("name", [".", "no/folder", "n" * 300])
def test_path_that_cannot_be_opened_is_an_error_of_one_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with pytest.raises(LocalError, match="cannot be written: "):
        OutputFile(path)
    assert os.listdir(tmp_path) == []


def test_the_longest_name_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    write(path, b"a")
    assert path.read_bytes() == b"a"


def test_unfinished_files_are_removed_if_the_process_is_terminated(tmp_path: Path) -> None:
    with own_cleanups():
        files = [OutputFile(tmp_path / name) for name in "ab"]
        assert len(os.listdir(tmp_path)) == 2
        exit_cleanups.run_all()
        assert os.listdir(tmp_path) == []
        for file in files:
            file.discard()
        with OutputFile(tmp_path / "c"):
            pass
        exit_cleanups.run_all()
        assert os.listdir(tmp_path) == ["c"]


def test_ctrl_c_just_after_the_file_was_created_leaves_nothing(
    tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def create_and_interrupt(name: Path, mode: str) -> None:
        name.write_bytes(b"")
        raise KeyboardInterrupt

    monkeypatch.setattr(output_file, "open", create_and_interrupt, raising=False)
    with pytest.raises(KeyboardInterrupt):
        OutputFile(path)
    assert os.listdir(tmp_path) == []
