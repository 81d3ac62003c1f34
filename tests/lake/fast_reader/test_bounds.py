"""Limits, reused memory, stored surveys, and files that changed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.lake.fast_reader.captures import plain, surveyed
from tests.lake.fast_reader.mutations import load, store
from tests.lake.fast_reader.segments import INIT, tcp
from tests.paths import CAPTURES
from zenlake.columnar.fields import columns
from zenlake.errors import CaptureError, LocalError
from zenlake.lake.fast_reader import Refusal, Survey, read, survey
from zenlake.lake.fast_reader.assemble.batches import EXTENTS_MAX
from zenlake.lake.fast_reader.assemble.capture_pass import (
    CHUNK_BYTES,
    CHUNK_UNITS,
    INITS_SEEN_MAX,
    PAIRS_MAX,
)
from zenlake.lake.fast_reader.regularity.message_rows import ROWS_AT_ONCE, MessageRows
from zenlake.limits import TCP_FLOWS_MAX

CAPTURE = CAPTURES / "alias_remapped.pcapng"
_PACKAGE = "zenlake.lake.fast_reader.assemble"


def test_capture_with_too_many_pairs_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert PAIRS_MAX >= TCP_FLOWS_MAX
    path = tmp_path / "many.pcapng"
    store(path, [tcp(port, 1, 2, b"") for port in range(1, 3_000)])
    assert len(surveyed(path)) == 2_999
    monkeypatch.setattr(f"{_PACKAGE}.capture_pass.PAIRS_MAX", 2_500)
    assert isinstance(survey(str(path)), Refusal)


def test_capture_with_too_many_inits_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert INITS_SEEN_MAX > 2 * PAIRS_MAX
    path = tmp_path / "many.pcapng"
    store(path, [tcp(5, 1, 0x10, INIT) for _ in range(3_000)])
    assert surveyed(path).zids.tolist() == [["aa", ""]]
    monkeypatch.setattr(f"{_PACKAGE}.capture_pass.INITS_SEEN_MAX", 2_048)
    assert isinstance(survey(str(path)), Refusal)


def test_capture_with_too_many_unfinished_batches_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert EXTENTS_MAX > PAIRS_MAX
    path = tmp_path / "many.pcapng"
    packets = [tcp(5, 0, 2, b"")]
    long = INIT + b"\xff\xff"
    parts = [long, *(b"x" for _ in range(3_000))]
    seq = 1
    for part in parts:
        packets.append(tcp(5, seq, 0, part))
        seq += len(part)
    store(path, packets)
    assert len(surveyed(path)) == 1
    monkeypatch.setattr(f"{_PACKAGE}.held_batches.EXTENTS_MAX", 2_048)
    assert isinstance(survey(str(path)), Refusal)


def test_chunks_are_bounded(tmp_path: Path) -> None:
    name = plain(CAPTURES / "fragments.pcapng.gz", tmp_path)
    found = surveyed(name)
    for chunk in read(name, found, found.regular, chunk_bytes=100_000):
        assert len(chunk.units) <= CHUNK_UNITS
        assert len(chunk.units.data) < 100_000 + CHUNK_BYTES


def test_rows_are_cleared_and_long_batches_have_room() -> None:
    keep_alives = b"\x04" * (2 * ROWS_AT_ONCE)
    frame = bytes.fromhex("2507")
    data = np.frombuffer(keep_alives + frame, np.uint8)
    bounds = np.array([0, len(keep_alives), len(data)], np.int64)
    rows = MessageRows()
    forms, failures = np.zeros(2, np.uint8), np.zeros(2, np.int64)
    found = [len(one.kind) for one in rows.read(data, bounds, forms, failures)]
    assert sum(found) == 2 * ROWS_AT_ONCE + 1
    assert not any(rows._table.column(name).any() for name in columns())


def test_rows_of_real_messages_are_cleared(tmp_path: Path) -> None:
    rows = MessageRows()
    for stem in ("metadata.pcapng.gz", "queries.pcapng.gz", "routers_ring.pcapng.gz"):
        name = plain(CAPTURES / stem, tmp_path)
        found = surveyed(name)
        for chunk in read(name, found, found.regular):
            units, failures = chunk.units, np.zeros(len(chunk.units), np.int64)
            for _ in rows.read(units.data, units.bounds, units.form, failures):
                pass
            assert not any(rows._table.column(one).any() for one in columns())


def test_a_stored_survey_is_loaded_unchanged(tmp_path: Path) -> None:
    found = surveyed(CAPTURE)
    found.save(str(tmp_path / "survey.npz"))
    again = Survey.load(str(tmp_path / "survey.npz"))
    assert vars(again).keys() == vars(found).keys()
    for name, value in vars(found).items():
        assert np.array_equal(getattr(again, name), value), name
    assert again.link_name(0) == found.link_name(0)


def test_changed_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    whole = load(CAPTURE)
    store(path, whole)
    found = surveyed(path)
    content = path.read_bytes()
    path.write_bytes(content + content)
    with pytest.raises(CaptureError, match="changed while it was being read"):
        list(read(str(path), found, found.regular))
    at = content.index(whole[12].data) + 40
    path.write_bytes(content[:at] + b"\xff\xff" + content[at + 2 :])
    with pytest.raises(CaptureError, match="changed while it was being read"):
        list(read(str(path), found, found.regular))


def test_more_packets_than_surveyed_are_an_error() -> None:
    """Kernels look up the pair of a packet without checking its number."""
    found = surveyed(CAPTURE)
    found.pair_of = found.pair_of[:-1]
    with pytest.raises(CaptureError, match="changed while it was being read"):
        list(read(str(CAPTURE), found, found.regular))


def test_a_survey_has_the_pair_of_each_packet() -> None:
    found = surveyed(CAPTURE)
    assert len(found.pair_of) == found.packets
    counts = np.bincount(found.pair_of[found.pair_of >= 0], minlength=len(found))
    assert counts.tolist() == found.pair_packets.tolist()
    assert int((found.pair_of < 0).sum()) == found.others


def test_missing_files_are_errors(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="cannot be opened"):
        survey(str(tmp_path / "none.pcap"))


def test_irregular_pairs_have_no_name() -> None:
    found = surveyed(CAPTURES / "reconnect.pcapng")
    pair = int(np.flatnonzero(~found.regular)[0])
    with pytest.raises(LocalError):
        found.link_name(pair)
