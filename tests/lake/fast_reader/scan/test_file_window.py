"""A capture is read in parts: memory is bounded, and a file that changes is an error."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from tests.lake.fast_reader.captures import plain, surveyed
from tests.lake.fast_reader.comparison import compare
from tests.lake.fast_reader.segments import connections
from tests.lake.faults.captures import replicated
from tests.paths import CAPTURES
from zenlake.errors import CaptureError
from zenlake.lake.fast_reader import Refusal, read, survey
from zenlake.lake.fast_reader.scan import file_window
from zenlake.lake.fast_reader.scan.byte_source import LocalFile
from zenlake.lake.fast_reader.scan.file_window import FileWindow
from zenlake.lake.plan import survey_task
from zenlake.lake.plan.file_digest import FileDigest, sha256_of
from zenlake.limits import CAPTURE_BLOCK_BYTES_MAX, FAST_READER_HELD_BYTES_MAX

_LIMIT = "zenlake.lake.fast_reader.assemble.capture_pass.FAST_READER_HELD_BYTES_MAX"


@pytest.fixture
def in_small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes parts so small that most batches of the captures span several of them."""
    monkeypatch.setattr(file_window, "LOAD_BYTES", 700)
    monkeypatch.setattr(file_window, "HELD_ROOM", 16)


@pytest.mark.usefixtures("in_small_parts")
@pytest.mark.parametrize(
    "name", ["fragments.pcapng.gz", "lowlatency.pcapng.gz", "qos_matrix.pcap", "reconnect.pcapng"]
)
def test_both_readers_agree_where_batches_lie_in_several_parts(name: str, tmp_path: Path) -> None:
    path = plain(CAPTURES / name, tmp_path)
    found = surveyed(path)
    compare(path, found)


def test_memory_does_not_grow_with_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    load = FileWindow.load

    def loaded(self: FileWindow, *arguments: Any) -> None:
        load(self, *arguments)
        sizes.append(len(self.data))

    monkeypatch.setattr(FileWindow, "load", loaded)
    monkeypatch.setattr(file_window, "LOAD_BYTES", 1 << 18)
    path = replicated(tmp_path / "large.pcapng", 4, "fragments.pcapng.gz", "queries.pcapng.gz")
    found = surveyed(path)
    for _ in read(path, found, found.regular):
        pass
    assert os.path.getsize(path) > 8 << 20
    assert len(sizes) > 2 * 32
    assert max(sizes) < 3 << 20


def test_block_larger_than_a_part_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_window, "LOAD_BYTES", 1 << 16)
    content = (CAPTURES / "alias_remapped.pcapng").read_bytes()
    size = 1 << 20
    head = b"\xad\x0b\x00\x00" + size.to_bytes(4, "little")
    path = tmp_path / "large.pcapng"
    path.write_bytes(content + head + bytes(size - 12) + head[4:])
    found = surveyed(str(path))
    assert not found.cut_bytes
    compare(str(path), found)
    assert size < CAPTURE_BLOCK_BYTES_MAX


@pytest.mark.usefixtures("in_small_parts")
def test_file_truncated_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    path = Path(plain(CAPTURES / "queries.pcapng.gz", tmp_path))
    found = surveyed(str(path))
    chunks = read(str(path), found, found.regular, chunk_bytes=1_000)
    next(chunks)
    os.truncate(path, 5_000)
    with pytest.raises(CaptureError, match="changed while it was being read: run again") as raised:
        list(chunks)
    assert raised.value.offset == 5_000


def test_file_truncated_while_it_is_surveyed_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The task returns the error for that capture."""
    path = Path(plain(CAPTURES / "queries.pcapng.gz", tmp_path))
    read_into = LocalFile.read_into

    def cut(self: LocalFile, offset: int, target: memoryview) -> int:
        if offset:
            os.truncate(path, 9_000)
        return read_into(self, offset, target)

    monkeypatch.setattr(LocalFile, "read_into", cut)
    monkeypatch.setattr(survey_task, "SMALL_BYTES", 0)
    monkeypatch.setattr(file_window, "LOAD_BYTES", 1 << 12)
    result = survey_task.survey_capture(
        {"path": str(path), "survey": str(tmp_path / "survey.npz"), "tasks": 1}
    )
    cause = "the file changed while it was being read: run again"
    assert result == {"path": str(path), "error": f"{path} at byte 9000: {cause}"}


UNFINISHED = (b"\xe8\x03" + bytes(200), bytes(300))
"""Segments with parts of a batch of 1,000 bytes."""
KEEP_ALIVE = b"\x01\x00\x04"


def test_unfinished_batches_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_window, "LOAD_BYTES", 1 << 12)
    monkeypatch.setattr(_LIMIT, 20_000)
    assert FAST_READER_HELD_BYTES_MAX > 20_000
    surveyed(connections(tmp_path / "few", 30, *UNFINISHED))
    found = survey(str(connections(tmp_path / "many", 60, *UNFINISHED)))
    assert isinstance(found, Refusal)
    assert found.cause == "unfinished batches take too much memory"


@pytest.mark.parametrize(
    ("parts", "with_reset"), [(UNFINISHED, True), ((KEEP_ALIVE, *UNFINISHED), False)]
)
def test_batches_that_cannot_be_completed_are_not_held(
    parts: tuple[bytes, ...], with_reset: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """These are on connections that are closed or that their messages made irregular."""
    monkeypatch.setattr(file_window, "LOAD_BYTES", 1 << 12)
    monkeypatch.setattr(_LIMIT, 20_000)
    path = str(connections(tmp_path / "closed", 60, *parts, with_reset=with_reset))
    found = surveyed(path)
    assert not found.regular.any()
    compare(path, found)


@pytest.mark.usefixtures("in_small_parts")
def test_survey_feeds_all_bytes_to_the_hash(tmp_path: Path) -> None:
    path = plain(CAPTURES / "queries.pcapng.gz", tmp_path)
    expected = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    with FileDigest() as digest:
        survey(path, observer=digest)
        assert digest.size == os.path.getsize(path)
        assert digest.hexdigest() == expected
    assert sha256_of(path) == expected


def test_files_that_are_not_surveyed_to_the_end_have_a_hash(tmp_path: Path) -> None:
    """Small files, and files that the fast reader refuses."""
    for name in ("small", "refused"):
        path = tmp_path / name
        path.write_bytes(b"no capture" * (1 if name == "small" else 1 << 20))
        result = survey_task.survey_capture(
            {"path": str(path), "survey": str(tmp_path / "survey.npz"), "tasks": 1}
        )
        assert result["splits"] == 0
        assert result["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
