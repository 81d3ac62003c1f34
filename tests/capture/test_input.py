"""Input: compressed files, pipes, truncated files and decompression bombs."""

from __future__ import annotations

import gzip
import importlib
import io
import random
import re
import sys
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from tests.capture.built_files import (
    Outcome,
    payloads,
    pcap_header,
    pcap_record,
    pcap_records,
    read,
    zstd,
)
from zenlake.capture import pcap
from zenlake.capture.files import packets
from zenlake.capture.input import CHUNK_BYTES, Input
from zenlake.capture.packet import Skipped
from zenlake.errors import CaptureError
from zenlake.limits import CAPTURE_EXPANSION_FREE_BYTES_MAX, CAPTURE_EXPANSION_RATIO_MAX

BODIES = payloads(2_000)
CONTENT = pcap_header() + b"".join(pcap_records(BODIES))

Compress = Callable[[bytes], bytes]


def compress_zstd(data: bytes) -> bytes:
    """The content as a zstd file with a checksum, as the command `zstd` writes it."""
    return bytes(zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1}))


both = pytest.mark.parametrize(
    ("kind", "compress"), [("gzip", gzip.compress), ("zstd", compress_zstd)], ids=["gzip", "zstd"]
)


@both
def test_compression_is_known_by_its_first_bytes(
    tmp_path: Path, kind: str, compress: Compress
) -> None:
    outcome = read(tmp_path, compress(CONTENT))
    assert outcome.data == BODIES
    assert not outcome.skipped


@both
def test_compressed_parts_in_a_row_are_one_file(
    tmp_path: Path, kind: str, compress: Compress
) -> None:
    parts = [compress(CONTENT[n : n + 1_000]) for n in range(0, len(CONTENT), 1_000)]
    outcome = read(tmp_path, b"".join(parts) + bytes(512))
    assert outcome.data == BODIES
    assert not outcome.skipped
    outcome = read(tmp_path, b"".join(parts) + b"something else")
    assert outcome.data == BODIES
    assert outcome.skipped.bytes == {f"bytes after the {kind} data": 14}


def test_zstd_metadata_frame_is_skipped(tmp_path: Path) -> None:
    metadata = b"\x5a\x2a\x4d\x18\x04\x00\x00\x00meta"
    outcome = read(tmp_path, metadata + zstd.compress(CONTENT))
    assert outcome.data == BODIES
    assert not outcome.skipped


@both
def test_truncated_file_is_read_to_its_end(tmp_path: Path, kind: str, compress: Compress) -> None:
    # Of several frames, because zstd returns nothing of an incomplete block.
    parts = [compress(CONTENT[n : n + 1_000]) for n in range(0, len(CONTENT), 1_000)]
    whole = b"".join(parts)
    for cut in range(1_500, len(whole), len(whole) // 40):
        outcome = read(tmp_path, whole[:cut])
        assert outcome.data == BODIES[: len(outcome.data)]
        assert len(outcome.data) >= (cut - 2_000) / len(whole) * len(BODIES)
        if cut not in {len(b"".join(parts[:n])) for n in range(len(parts))}:
            assert outcome.skipped.counts[f"{kind} data ends too early"] == 1


@both
def test_damage_in_compressed_data_is_counted(
    tmp_path: Path, kind: str, compress: Compress
) -> None:
    parts = [compress(CONTENT[n : n + 1_000]) for n in range(0, len(CONTENT), 1_000)]
    whole = b"".join(parts)
    chance = random.Random(3)
    for _ in range(40):
        place = chance.randrange(len(whole) // 2, len(whole) - 5)
        damaged = bytearray(whole)
        damaged[place : place + 4] = chance.randbytes(4)
        outcome = read(tmp_path, bytes(damaged))
        assert outcome.data[:800] == BODIES[:800]
        assert outcome.skipped or outcome.data == BODIES


@both
def test_bomb_is_stopped(tmp_path: Path, kind: str, compress: Compress) -> None:
    """A ratio of 1,000 as in 10 MB that become 10 GB; here of a file that would be 2 GB."""
    path = tmp_path / "bomb"
    record = pcap_record(bytes(262_000), 1)
    part = compress(record * 40)
    with path.open("wb") as file:
        file.write(compress(pcap_header()))
        for _ in range(200):
            file.write(part)
    skipped = Skipped()
    tracemalloc.start()
    count = sum(1 for _ in packets([str(path)], skipped))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    reason = f"{kind} data expands more than {CAPTURE_EXPANSION_RATIO_MAX} times"
    assert skipped.counts[reason] == 1
    assert set(skipped.counts) <= {reason, pcap.CUT}
    free = CAPTURE_EXPANSION_FREE_BYTES_MAX
    assert free - 2 * CHUNK_BYTES <= count * len(record) <= free
    assert peak < 8 * CHUNK_BYTES


@both
def test_monotonous_files_may_expand_to_the_free_size(
    tmp_path: Path, kind: str, compress: Compress
) -> None:
    record = pcap_record(bytes(262_000), 1)
    count = (CAPTURE_EXPANSION_FREE_BYTES_MAX - 24) // len(record)
    outcome = read(tmp_path, compress(pcap_header() + record * count))
    assert len(outcome.packets) == count
    assert not outcome.skipped


@both
def test_compressed_nothing_and_compressed_noise_are_no_captures(
    tmp_path: Path, kind: str, compress: Compress
) -> None:
    with pytest.raises(CaptureError, match="too short for a capture"):
        read(tmp_path, compress(b""))
    with pytest.raises(CaptureError, match="neither pcap nor pcapng: it begins with 6e 6f 69 73"):
        read(tmp_path, compress(b"noise"))
    with pytest.raises(CaptureError, match=f"{kind} data ends too early"):
        read(tmp_path, compress(CONTENT)[:8])
    with pytest.raises(CaptureError, match=f"damaged {kind} data"):
        read(tmp_path, compress(CONTENT)[:4] + b"\xff" * 60)


def test_zstd_that_is_not_installed_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> ModuleType:
        raise ImportError(name)

    path = tmp_path / "x.zst"
    path.write_bytes(zstd.compress(CONTENT))
    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(CaptureError, match=r"pip install backports\.zstd$"):
        Outcome(path)


class Dribble(io.BytesIO):
    """A pipe that returns a few bytes at a time."""

    def read1(self, size: int | None = -1, /) -> bytes:
        return super().read1(7)


@pytest.mark.parametrize("compress", [bytes, gzip.compress, zstd.compress])
def test_pipe_that_returns_a_few_bytes_at_a_time(
    monkeypatch: pytest.MonkeyPatch, compress: Compress
) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Dribble(compress(CONTENT[:20_000]))))
    skipped = Skipped()
    found = [packet.data for packet in packets(["-"], skipped)]
    assert found == BODIES[: len(found)]
    assert sum(16 + len(data) for data in found) + 24 + skipped.bytes.get(pcap.CUT, 0) == 20_000


def test_closed_standard_input_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(CaptureError, match="there is no standard input"):
        next(packets(["-"], Skipped()))


class Failing(io.BytesIO):
    """A disk whose reads fail after a while."""

    def read1(self, size: int | None = -1, /) -> bytes:
        if self.tell() > 50_000:
            raise OSError(5, "Input/output error")
        return super().read1(size)


@pytest.mark.parametrize("level", [None, 0])
def test_reading_that_fails_midway_is_counted_once(
    monkeypatch: pytest.MonkeyPatch, level: int | None
) -> None:
    content = CONTENT if level is None else gzip.compress(CONTENT, level)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Failing(content)))
    skipped = Skipped()
    found = [packet.data for packet in packets(["-"], skipped)]
    assert len(found) > 300
    assert found == BODIES[: len(found)]
    assert skipped.counts["reading failed: Input/output error"] == 1
    assert not [reason for reason in skipped.counts if "too early" in reason]


def test_window_moves_only_as_far_as_asked(tmp_path: Path) -> None:
    content = random.Random(4).randbytes(3 * CHUNK_BYTES)
    path = tmp_path / "bytes"
    path.write_bytes(content)
    input = Input(str(path), Skipped())
    asked = ((0, 10), (4_000, CHUNK_BYTES), (900_000, 2_000_000), (3 * CHUNK_BYTES - 4, 4))
    for place, needed in asked:
        assert input.has(place, needed)
        start = place - input.base
        assert input.buffer[start : start + needed] == content[place : place + needed]
        assert len(input.buffer) <= 2_000_000 + CHUNK_BYTES
    assert not input.has(3 * CHUNK_BYTES - 4, 5)
    assert input.end_place() == len(content)
    assert input.drain() == len(content)
    input.close()


@pytest.mark.parametrize("by", [-3, -2, -1, 0, 1])
def test_pattern_is_found_across_the_edge_of_the_window(tmp_path: Path, by: int) -> None:
    path = tmp_path / "bytes"
    place = 4_096 + CHUNK_BYTES + by
    path.write_bytes(bytes(place) + b"mark" + bytes(100))
    pattern = re.compile(b"mark")
    for stop, expected in ((place + 1, place), (place, -1)):
        input = Input(str(path), Skipped())
        assert input.find(pattern, 0, stop, 4) == expected
        input.close()


def test_zlib_and_gzip_are_not_confused(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="neither pcap nor pcapng: it begins with 78 9c"):
        read(tmp_path, zlib.compress(CONTENT))
