"""A disk that is full, or lacks links: one line, and the old version as it was."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lake.store.small_lake import SCHEMAS, add, contents, expected, lake
from zenlake.lake.store import LakeError, Store

STEPS = [
    (os, "link"),
    (os, "symlink"),
    (os, "replace"),
    (os, "fsync"),
    (os, "mkdir"),
    (Path, "write_text"),
]
CALLS = 12
TMPFS_KILOBYTES = 512


def failing(real: Callable[..., Any], after: int, code: int) -> Callable[..., Any]:
    """The function, which fails at its call number `after` and from then on."""
    calls = iter(range(after))

    def call(*arguments: Any, **named: Any) -> Any:
        if next(calls, None) is None:
            raise OSError(code, os.strerror(code))
        return real(*arguments, **named)

    return call


@pytest.mark.parametrize(
    ("owner", "name"), STEPS, ids=lambda value: getattr(value, "__name__", value)
)
@pytest.mark.parametrize("first", [False, True])
def test_a_full_disk_leaves_the_old_version(
    owner: Any, name: str, first: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each call of each step there is; `first` is the first version of a lake."""
    complaints = []
    for after in range(CALLS):
        place = tmp_path / str(after)
        store = Store(place) if first else lake(place, "a", "b")
        before = store.version()
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, failing(getattr(owner, name), after, errno.ENOSPC))
            try:
                with store.begin() as run:
                    add(run, "b", "c", edition=2)
            except LakeError as error:
                complaints.append(str(error))
        # What follows the flip can fail as well; readers have the new version by then.
        if store.version() == before:
            assert before is None or contents(store) == expected({"a": 1, "b": 1})
            assert not any(store.directory.glob("_versions/2"))
        with store.begin() as run:
            add(run, "c", edition=3)
        names = {} if first else {"a": 1, "b": 1}
        if store.version() == (before or 0) + 2:
            names["b"] = 2
        assert contents(store) == expected({**names, "c": 3})
    assert complaints
    assert all(text.endswith("No space left on device") for text in complaints)
    assert "\n" not in "".join(complaints)


def test_copies_where_there_are_no_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", failing(os.link, 0, errno.EPERM))
    store = lake(tmp_path, "a")
    with store.begin() as run:
        add(run, "b")
    assert contents(store) == expected({"a": 1, "b": 1})
    monkeypatch.setattr(shutil, "copyfile", failing(shutil.copyfile, 1, errno.ENOSPC))
    with store.begin() as run, pytest.raises(LakeError, match="No space left"):
        add(run, "c")
    assert contents(store) == expected({"a": 1, "b": 1})


def test_a_number_where_there_are_no_symbolic_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "symlink", failing(os.symlink, 0, errno.EPERM))
        store = lake(tmp_path, "a")
        assert (tmp_path / "_current").read_text() == "1\n"
        assert not any((tmp_path / table).exists() for table in SCHEMAS)
        with store.begin() as run:
            add(run, "a", edition=2)
        assert contents(store) == expected({"a": 2})
    # The same lake where there are links: from the next version on.
    with store.begin() as run:
        add(run, "b")
    assert os.readlink(tmp_path / "_current") == "_versions/3"
    assert contents(store) == expected({"a": 2, "b": 1})


def test_a_caller_that_fills_the_disk_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(LakeError, match="No space left on device"), Store(tmp_path).begin():
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with pytest.raises(PermissionError), Store(tmp_path).begin():
        raise PermissionError(errno.EACCES, "not about the disk")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={TMPFS_KILOBYTES}k", "tmpfs", str(disk)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no right to mount")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_disk_that_is_really_full(small_disk: Path) -> None:
    store = lake(small_disk / "lake", "a")
    # Little is left: the files of a version fit at first, and at last not even its folders.
    filler = small_disk / "filler"
    added = ["a"]
    complaints = []
    for number in range(40):
        free = os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_bsize
        keep = max(free - number * 4096, 0)
        filler.write_bytes(bytes(keep))
        try:
            with store.begin() as run:
                add(run, f"c{number}")
            added.append(f"c{number}")
        except LakeError as error:
            complaints.append(str(error))
        filler.unlink()
        assert contents(store) == expected(dict.fromkeys(added, 1))
    assert len(complaints) > 3
    assert all("No space left on device" in text for text in complaints)
    assert len(added) > 3
    assert len(store.files("messages")) == 1 + len(added)
