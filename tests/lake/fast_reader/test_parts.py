"""Numba compares only the file of a compiled entry point; its digest covers the parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from zenlake.lake.fast_reader import kernel_digests
from zenlake.lake.fast_reader.kernel_digests import entry_files, parts_of, with_digest


def test_entry_points_are_found() -> None:
    by_name = {path.stem: path for path in entry_files()}
    expected = {"assemble_kernel", "held_batches", "pairs", "pcap_scan"}
    expected |= {"pcapng_scan", "segment_scan", "regularity_kernel"}
    expected |= {"intern", "screen_kernel", "hash_kernel"}
    assert set(by_name) == expected
    assert {"segment", "numbers", "reasons"} <= {
        one.stem for one in parts_of(by_name["assemble_kernel"])
    }


@pytest.mark.parametrize("path", entry_files(), ids=lambda path: path.stem)
def test_digest_is_up_to_date(path: Path) -> None:
    assert path.read_text("utf-8") == with_digest(path), f"{path.name}: run `make generate`"


def test_change_of_a_part_changes_the_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = tmp_path / "part.py"
    part.write_text("ONE = 1\n")
    monkeypatch.setattr(kernel_digests, "parts_of", lambda path: {part})
    entry = entry_files()[0]
    before = with_digest(entry)
    part.write_text("ONE = 2\n")
    after = with_digest(entry)
    assert before != after
    assert before.splitlines()[1:] == after.splitlines()[1:]
