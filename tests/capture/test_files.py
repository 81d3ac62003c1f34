"""Several files as one capture; rotated files; files that are no captures."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.capture.built_files import (
    interface,
    packet_block,
    pcap_header,
    pcap_record,
    pcap_records,
    section,
    zstd,
)
from tests.paths import CAPTURES
from zenlake.capture.files import packets, rotated
from zenlake.capture.packet import Skipped
from zenlake.errors import CaptureError

PRINT = (
    "from zenlake.capture.files import packets\n"
    "from zenlake.capture.packet import Skipped\n"
    "for packet in packets(['-'], Skipped()):\n"
    "    print(packet.number, packet.data.hex(), flush=True)\n"
)


def test_packets_are_numbered_over_files_of_all_kinds(tmp_path: Path) -> None:
    contents = {
        "a": pcap_header() + pcap_record(b"1", 0) + pcap_record(b"2", 1),
        "b": gzip.compress(
            section(">") + interface(113, order=">") + packet_block(b"3", 1, order=">")
        ),
        "c": pcap_header(),
        "d": zstd.compress(pcap_header(">", 0xA1B23C4D) + pcap_record(b"4", 0, ">")),
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    skipped = Skipped()
    found = list(packets([str(tmp_path / name) for name in contents], skipped))
    assert [(p.number, p.data) for p in found] == [(1, b"1"), (2, b"2"), (3, b"3"), (4, b"4")]
    assert not skipped


@pytest.mark.parametrize("name", ["pubsub_router.pcapng", "qos_matrix.pcap"])
def test_standard_input_is_read(name: str) -> None:
    content = (CAPTURES / name).read_bytes()
    command = [sys.executable, "-c", PRINT]
    result = subprocess.run(command, input=content, capture_output=True, check=True)
    expected = [f"{p.number} {p.data.hex()}" for p in packets([str(CAPTURES / name)], Skipped())]
    assert result.stdout.decode().splitlines() == expected


def test_packets_of_a_live_pipe_come_as_they_are_captured() -> None:
    command = [sys.executable, "-c", PRINT]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(pcap_header())
        for number, record in enumerate(pcap_records([b"a", b"b", b"c"]), 1):
            process.stdin.write(record)
            process.stdin.flush()
            assert process.stdout.readline() == b"%d %s\n" % (number, record[16:].hex().encode())
        process.stdin.close()
        assert process.stdout.read() == b""


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"", "too short for a capture"),
        (b"\xd4\xc3\xb2", "too short for a capture"),
        (b"PK\x03\x04 and more", "neither pcap nor pcapng: it begins with 50 4b 03 04"),
        (b"{}\r\n\n" * 50, "neither pcap nor pcapng"),
    ],
)
def test_file_that_is_no_capture_raises_an_error_of_one_line(
    tmp_path: Path, content: bytes, cause: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(CaptureError, match=cause) as caught:
        next(packets([str(path)], Skipped()))
    assert caught.value.path == str(path)
    assert "\n" not in str(caught.value)


def test_file_that_cannot_be_opened_raises_an_error_of_one_line(tmp_path: Path) -> None:
    for path in (str(tmp_path / "none"), str(tmp_path), "nul\0byte"):
        with pytest.raises(CaptureError, match="cannot be opened") as caught:
            next(packets([path], Skipped()))
        assert "\n" not in str(caught.value)


def test_files_are_closed_even_if_reading_stops_early() -> None:
    open_before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for _ in range(20):
        stream = packets([str(CAPTURES / "qos_matrix.pcap")], Skipped())
        next(stream)
        stream.close()
    open_after = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    assert open_after == open_before


def write_rotated(folder: Path, names: list[str]) -> list[str]:
    """Captures whose first packets are in the order of the names."""
    for second, name in enumerate(names):
        content = pcap_header() + pcap_record(name.encode(), second)
        if name.endswith(".gz"):
            content = gzip.compress(content)
        elif name.endswith(".zst"):
            content = zstd.compress(content)
        (folder / name).write_bytes(content)
    return [str(folder / name) for name in names]


@pytest.mark.parametrize(
    ("names", "asked"),
    [
        (["x", "x1", "x2", "x10"], ["x"]),
        (["x.pcap", "x.pcap1", "x.pcap2", "x.pcap10"], ["x.pcap", "x.pcap1", "x.pcap10"]),
        (["x.pcap0", "x.pcap1"], ["x.pcap", "x.pcap0"]),
        (["x.pcap2", "x.pcap0", "x.pcap1"], ["x.pcap", "x.pcap0"]),
        (["x.pcapng00", "x.pcapng01"], ["x.pcapng", "x.pcapng01"]),
        (["x.pcap.gz", "x.pcap1.gz", "x.pcap2.zst", "x.pcap3"], ["x.pcap", "x.pcap1.gz"]),
        (["x2024"], ["x2024"]),
    ],
    ids=["no suffix", "size", "count", "count wrapped", "padded", "compressed", "digits in name"],
)
def test_rotated_files_in_the_order_of_their_times(
    tmp_path: Path, names: list[str], asked: list[str]
) -> None:
    paths = write_rotated(tmp_path, names)
    for other in ("y", "xx", "x.txt", "x.pcap1.txt", "ax.pcap"):
        (tmp_path / other).write_bytes(b"no capture")
    for name in asked:
        assert rotated(str(tmp_path / name)) == paths
    found = list(packets(rotated(str(tmp_path / asked[0])), Skipped()))
    assert [(p.number, p.data.decode()) for p in found] == list(enumerate(names, 1))


def test_rotated_file_that_is_not_written_yet_is_left_out(tmp_path: Path) -> None:
    paths = write_rotated(tmp_path, ["x.pcap", "x.pcap1"])
    (tmp_path / "x.pcap2").write_bytes(b"")
    (tmp_path / "x.pcap0").write_bytes(pcap_header())
    assert rotated(paths[0]) == [*paths, str(tmp_path / "x.pcap0")]


def test_rotated_files_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_rotated(tmp_path, ["x.pcap", "x.pcap1"])
    monkeypatch.chdir(tmp_path)
    assert rotated("x.pcap") == ["x.pcap", "x.pcap1"]


def test_missing_rotated_files_raise_an_error(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="no such file, and no rotated files"):
        rotated(str(tmp_path / "x.pcap"))
    with pytest.raises(CaptureError, match="cannot be opened"):
        rotated(str(tmp_path / "none" / "x.pcap"))
