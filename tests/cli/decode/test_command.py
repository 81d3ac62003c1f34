"""zenlake decode as users call it, on captures of real nodes."""

from __future__ import annotations

import gzip
import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import assert_refused
from tests.paths import CAPTURES
from tests.zenlake_process import ZENLAKE, run_zenlake
from zenlake.capture.files import packets
from zenlake.capture.packet import Skipped
from zenlake.cli import progress
from zenlake.cli.main import main
from zenlake.cli.progress import progress_line

PUBSUB = str(CAPTURES / "pubsub_router.pcapng")
QOS = str(CAPTURES / "qos_matrix.pcap")
PUBSUB_COUNTS = {
    **{"CLOSE": 4, "INIT_SYN": 4, "INIT_ACK": 4, "OPEN_SYN": 4, "OPEN_ACK": 4, "FRAME": 99},
    **{"DECLARE/D_FINAL": 3, "DECLARE/D_KEYEXPR": 5, "DECLARE/D_SUBSCRIBER": 10},
    **{"DECLARE/U_SUBSCRIBER": 6, "INTEREST": 4, "PUSH/DEL": 7, "PUSH/PUT": 627},
}
MESSAGES = sum(PUBSUB_COUNTS.values())


class Result:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code = code
        self.out = out
        self.err = err
        self.lines = out.splitlines()


def decode(capsys: pytest.CaptureFixture[str], *arguments: str) -> Result:
    code = main(["decode", *arguments])
    captured = capsys.readouterr()
    return Result(code, captured.out, captured.err)


def in_a_process(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*ZENLAKE, "decode", *arguments], input=stdin, capture_output=True, timeout=60
    )


def numbers(path: Path | str) -> list[int]:
    return [packet.number for packet in packets([str(path)], Skipped())]


def test_every_message_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    result = decode(capsys, PUBSUB)
    assert result.code == 0
    assert len([line for line in result.lines if " -- " not in line]) == MESSAGES
    assert result.lines[1].endswith("version 9  sn 32 bits  batch 65480  qos, patch 1")
    assert "\x1b" not in result.out
    assert any(
        line.endswith('PUSH/PUT             home/cellar/temp  5 B "39.57"') for line in result.lines
    )


def test_the_summary_has_counts_and_undecoded_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    lines = decode(capsys, PUBSUB).err.splitlines()
    assert lines[0].startswith(f"{PUBSUB}: 245 packets in 2.056 s, {MESSAGES} messages, 4 sessions")
    assert len([line for line in lines if line.endswith("closed (generic)")]) == 4
    assert lines[-1] == "  not decoded (not_zenoh): 824 bytes of other protocols"


def test_count_prints_the_number_of_each_kind(capsys: pytest.CaptureFixture[str]) -> None:
    result = decode(capsys, "--count", PUBSUB)
    assert "PUSH/PUT               627" in result.lines
    assert "FRAME                   99" in result.lines
    assert result.err == ""


def test_count_as_json_is_one_object_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    result = decode(capsys, "--count", "--json", PUBSUB, QOS)
    first, second = map(json.loads, result.lines)
    assert first == {"file": PUBSUB, "counts": PUBSUB_COUNTS, "undecoded": {"not_zenoh": 824}}
    assert second["file"] == QOS
    assert second["counts"]["FRAME"] == 611
    assert result.err == ""


def test_json_is_one_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    found = [json.loads(line) for line in decode(capsys, "--json", PUBSUB).lines]
    messages = [one for one in found if one["event"] == "message"]
    assert [one["seq"] for one in messages] == list(range(1, MESSAGES + 1))
    puts = [one for one in messages if one["kind"] == "PUSH/PUT"]
    assert bytes.fromhex(puts[0]["payload"]) == b"39.57"
    assert {one["event"] for one in found} == {"message", "session", "undecoded"}


def test_where_keeps_messages_that_match_every_condition(
    capsys: pytest.CaptureFixture[str],
) -> None:
    result = decode(capsys, "--where", "kind == PUSH", "--where", "key ~ home/cellar/*", PUBSUB)
    assert result.code == 0
    assert result.lines
    assert all("home/cellar/" in line and " PUSH/" in line for line in result.lines)
    assert f"({len(result.lines)} chosen)" in result.err
    deletes = decode(capsys, "--count", "--json", "--where", "kind == PUSH/DEL", PUBSUB)
    assert json.loads(deletes.out)["counts"] == {"PUSH/DEL": 7}


def test_limit_selects_the_first_messages(capsys: pytest.CaptureFixture[str]) -> None:
    result = decode(capsys, "-c", "3", "--where", "time > 0.7 and kind == PUSH", PUBSUB)
    assert [line.split()[1] for line in result.lines] == ["122", "124", "125"]
    assert "(3 chosen)" in result.err
    counted = decode(capsys, "-c", "5", "--count", "--json", PUBSUB)
    assert sum(json.loads(counted.out)["counts"].values()) == 5
    assert decode(capsys, "-c", "0", PUBSUB).err == "zenlake: -c must be at least 1, not 0\n"


def test_times_are_those_of_each_capture(capsys: pytest.CaptureFixture[str]) -> None:
    """The second began at another time."""
    result = decode(capsys, "--where", "time < 0.02", PUBSUB, QOS)
    assert len({float(line.split()[0]) < 0.02 for line in result.lines if line[0] == " "}) == 1
    assert result.err.count(" chosen)") == 2
    assert "(0 chosen)" not in result.err


def test_a_comparison_with_a_key_expression_gets_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    result = decode(capsys, "--where", "key == home/**", PUBSUB)
    assert result.err.startswith("hint: == compares keys letter by letter; `key ~ home/**` ")


def test_no_selected_message_is_exit_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert decode(capsys, "--where", "key == nothing", PUBSUB).code == 1
    assert decode(capsys, "--follow", "nothing/at/all", PUBSUB).code == 1
    assert decode(capsys, "--count", "--where", "kind == OAM", PUBSUB).code == 1


def test_follow_selects_the_lines_of_a_node(capsys: pytest.CaptureFixture[str]) -> None:
    result = decode(capsys, "--follow", "92e3", PUBSUB)
    assert result.code == 0
    assert all("client 92e3" in line for line in result.lines)
    assert "session opened" in result.out


def test_fields_and_bytes_below_a_message(capsys: pytest.CaptureFixture[str]) -> None:
    result = decode(capsys, "-v", "--hex", "--where", "kind == INIT_SYN and packet == 4", PUBSUB)
    lines = [line.strip() for line in result.lines[1:]]
    assert "message.zid = 92e3469907a77504009c57eb5b6092a3" in lines
    assert lines[-2].startswith("0000  c1 09 f2 a3 92 60 5b")


def test_absolute_times_are_dates(capsys: pytest.CaptureFixture[str]) -> None:
    result = decode(capsys, "--time", "absolute", "--where", "packet == 4", PUBSUB)
    assert result.lines[0].startswith("2026-")


def test_several_files_have_headers(capsys: pytest.CaptureFixture[str]) -> None:
    lines = decode(capsys, "--where", "kind == CLOSE", PUBSUB, QOS).lines
    assert lines[0] == f"== {PUBSUB}"
    assert lines[5] == f"== {QOS}"
    assert len(lines) == 8


def test_port_selects_connections(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        json.loads(decode(capsys, "--count", "--json", "--port", "9", PUBSUB).out)["counts"] == {}
    )
    result = decode(capsys, "--count", "--json", "--port", "9", "--port", "17100", PUBSUB)
    assert json.loads(result.out)["counts"] == PUBSUB_COUNTS


def test_packets_of_selected_messages_are_written_as_a_capture(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "out.pcapng"
    result = decode(capsys, "--json", "--where", "kind == CLOSE", "-w", str(out), PUBSUB)
    chosen = [json.loads(line)["packet"] for line in result.lines]
    assert f"4 packets written to {out}" in result.err
    kept = {packet.number: packet for packet in packets([PUBSUB], Skipped())}
    written = list(packets([str(out)], Skipped()))
    assert [packet.data for packet in written] == [kept[number].data for number in chosen]
    assert [packet.time_ns for packet in written] == [kept[number].time_ns for number in chosen]


def test_all_packets_with_messages_decode_again(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = str(tmp_path / "out.pcapng")
    result = decode(capsys, "-q", "-w", out, PUBSUB)
    assert result.out == ""
    again = json.loads(decode(capsys, "--count", "--json", out).out)
    assert again["counts"] == PUBSUB_COUNTS


def test_an_input_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = tmp_path / "copy.pcapng"
    copy.write_bytes(Path(PUBSUB).read_bytes())
    result = decode(capsys, "-w", str(copy), str(copy))
    assert result.code == 2
    assert "it cannot be written as well" in result.err
    assert copy.read_bytes() == Path(PUBSUB).read_bytes()


def test_unreadable_input_writes_no_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.pcapng"
    out.write_text("precious")
    assert decode(capsys, "-w", str(out), str(tmp_path / "none.pcap")).code == 2
    assert out.read_text() == "precious"
    assert decode(capsys, "-w", str(tmp_path / "no" / "folder"), PUBSUB).code == 2


def test_standard_input_is_decoded(tmp_path: Path) -> None:
    data = Path(PUBSUB).read_bytes()
    result = in_a_process("--count", "--json", "-", stdin=gzip.compress(data))
    found = json.loads(result.stdout)
    assert found == {"file": "-", "counts": PUBSUB_COUNTS, "undecoded": {"not_zenoh": 824}}
    out = tmp_path / "out.pcapng"
    result = in_a_process("--where", "kind == CLOSE", "-w", str(out), "-", stdin=data)
    assert result.returncode == 0
    assert len(numbers(out)) == 4
    result = in_a_process("--where", "kind == CLOSE", "-w", "-", "-", stdin=data)
    assert result.stdout == out.read_bytes()


def test_rotated_files_are_one_capture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = Path(QOS).read_bytes()
    cut, first = 24, 0
    while first < 400:
        cut += 16 + int.from_bytes(data[cut + 8 : cut + 12], "little")
        first += 1
    (tmp_path / "x.pcap").write_bytes(data[:cut])
    (tmp_path / "x.pcap1").write_bytes(data[:24] + data[cut:])
    result = decode(capsys, "--count", "--json", "--rotated", str(tmp_path / "x.pcap"))
    whole = decode(capsys, "--count", "--json", QOS)
    assert json.loads(result.out)["counts"] == json.loads(whole.out)["counts"]


def test_a_damaged_file_is_read_as_far_as_possible(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cut = tmp_path / "cut.pcap"
    cut.write_bytes(Path(QOS).read_bytes()[:-10])
    result = decode(capsys, str(cut))
    assert result.code == 1
    assert "the file is damaged" in result.err
    assert len(result.lines) > 1000


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("none.pcap",), "none.pcap: cannot be opened"),
        ((__file__,), "neither pcap nor pcapng"),
        (("--where", "size > big", PUBSUB), "filter, at character 7: size is a number"),
        (("--follow", "a//b", PUBSUB), "a chunk is empty"),
        (("--port", "0", PUBSUB), "--port must be 1 to 65535"),
        (("--port", "x", PUBSUB), "invalid int value"),
        (("--time", "never", PUBSUB), "invalid choice"),
        (("--rotated", "-"), "needs files"),
        ((), "required: FILE"),
    ],
)
def test_a_wrong_call_gets_one_line_and_code_2(arguments: tuple[str, ...], complaint: str) -> None:
    assert_refused(run_zenlake("decode", *arguments), complaint)


def test_a_closed_pipe_is_no_error() -> None:
    command = f"{shlex.join(ZENLAKE)} decode -l {PUBSUB} 2>/dev/null | head -1"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert result.stdout.count("\n") == 1
    assert result.stderr == ""


def test_the_name_of_a_file_is_shown_safely(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = tmp_path / "a\x1b[2J\nb.pcap"
    hostile.write_bytes(Path(QOS).read_bytes())
    result = decode(capsys, "--where", "kind == CLOSE", str(hostile), str(hostile))
    assert "\x1b" not in result.out + result.err
    result = decode(capsys, str(tmp_path / "none\x1b.pcap"))
    assert result.err.count("\n") == 1
    assert "\x1b" not in result.err


def test_progress_line_has_rates() -> None:
    assert progress_line(50_000_000, 200_000_000, 90_000, 2.0) == (
        "25 %, 50.0 MB, 90,000 messages, 45,000 messages/s"
    )
    assert progress_line(1_000_000, 0, 10, 1.0) == "1.0 MB, 10 messages, 10 messages/s"


@pytest.mark.parametrize("command", [["decode", "--count"], ["check"], ["why"]])
def test_progress_on_a_terminal(
    command: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_LINES", 0.0)
    monkeypatch.setattr(progress, "_EVENTS_BETWEEN_LOOKS", 1)
    main([*command, PUBSUB])
    assert "messages/s" not in capsys.readouterr().err
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    main([*command, PUBSUB])
    err = capsys.readouterr().err
    assert err.count(" messages/s") > 3
    assert err.rpartition("messages/s")[2].startswith("\r\x1b[K")
