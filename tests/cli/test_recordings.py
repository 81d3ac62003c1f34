"""Commands read the folder of a recording as one capture."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.capture.capture_file import write_capture
from tests.capture.recorded import parts_of, raw_packets, write_recording
from tests.paths import CAPTURES
from zenlake.capture.recordings import recording_bytes
from zenlake.cli.main import main


@pytest.fixture
def both(tmp_path: Path) -> tuple[Path, Path]:
    """A capture, and a recording of the same packets that still grows."""
    sent = raw_packets(CAPTURES / "queries.pcapng.gz")
    capture = write_capture(tmp_path / "capture.pcapng", sent)
    return capture, write_recording(tmp_path / "recording", parts_of(sent, 3), is_growing=True)


def output(capsys: pytest.CaptureFixture[str], *args: str | Path) -> tuple[int, str]:
    status = main([str(one) for one in args])
    return status, capsys.readouterr().out


@pytest.mark.parametrize("command", [("decode",), ("decode", "--count"), ("check",), ("why",)])
def test_command_prints_the_same_for_a_recording(
    both: tuple[Path, Path], capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    capture, recording = both
    expected = output(capsys, *command, capture)
    found = output(capsys, *command, recording)
    assert (found[0], found[1].replace(str(recording), str(capture))) == expected
    assert expected[1]


def test_selected_packets_of_a_recording_are_written(
    both: tuple[Path, Path], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    _, recording = both
    out = tmp_path / "selected.pcapng"
    output(capsys, "decode", "--where", "kind == REQUEST", "-w", out, recording)
    assert "REQUEST" in output(capsys, "decode", out)[1]


def test_segment_alone_is_decoded_with_its_keys(
    both: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    capture, recording = both
    lines = output(capsys, "decode", "--json", capture)[1].splitlines()
    expected = [json.loads(line) for line in lines]
    segment = recording / "00000002.pcapng"
    found = [json.loads(one) for one in output(capsys, "decode", "--json", segment)[1].splitlines()]
    packets = {one["packet"] for one in found}
    shown = ("packet", "kind", "key", "session", "sender_zid")
    same = [one for one in expected if one["packet"] in packets and one["event"] == "message"]
    assert min(packets) > 0
    assert [[one.get(name) for name in shown] for one in found if one["event"] == "message"] == [
        [one.get(name) for name in shown] for one in same
    ]


def test_sql_reads_a_recording(both: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    query = "SELECT packet, kind, key FROM messages ORDER BY seq, link"
    capture, recording = both
    expected = output(capsys, "sql", capture, query)
    assert output(capsys, "sql", recording, query) == expected
    named = output(capsys, "sql", "--json", recording, "SELECT capture, bytes FROM captures")[1]
    assert json.loads(named) == {
        "capture": str(recording),
        "bytes": recording_bytes(str(recording)),
    }
