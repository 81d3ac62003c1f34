"""zenlake check as users call it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import complaint_of
from tests.paths import CAPTURES
from tests.rules.captures import clean, findings
from tests.rules.faults.batches import push
from tests.rules.legal_session import LegalSession
from tests.rules.packet_recorder import Recorder
from zenlake.cli.main import main
from zenlake.rules import RULES

REMAPPED = str(CAPTURES / "alias_remapped.pcapng")


def test_an_error_is_shown_with_its_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", REMAPPED]) == 1
    text = capsys.readouterr().out
    rule = RULES["alias-redefined"]
    assert f"error  {rule.id}  {rule.text}  [{rule.page}]" in text
    assert "  packet 28      127.0.0.1:54788-127.0.0.1:17202#1  6cbd: 1 is 'map/first'" in text
    assert text.endswith(": 1 error, 0 warnings, 1 note in 41 messages, 2 sessions\n")


def test_json_has_a_line_for_each_finding(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--json", REMAPPED]) == 1
    *printed, summary = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = findings(Path(REMAPPED))
    assert [(one["rule"], one["packet"]) for one in printed] == [
        (one.rule.id, one.packet) for one in found
    ]
    assert printed[1] == {
        "file": REMAPPED,
        "event": "finding",
        "rule": "alias-redefined",
        "severity": "error",
        "packet": 28,
        "time_ns": 1794722904581368716,
        "link": "127.0.0.1:54788-127.0.0.1:17202#1",
        "session": "127.0.0.1:54788-127.0.0.1:17202#1",
        "sender_zid": "6cbdb7af562946868b3479caee57dbf2",
        "seq": 20,
        "message": "1 is 'map/first', and is declared as 'map/second'",
        "page": RULES["alias-redefined"].page,
        "sections": ["docs/spec-notes.md#7-keys-and-declarations"],
        "times": 1,
    }
    assert summary["findings"] == {"error": 1, "warning": 0, "note": 1}
    assert summary["rules"] == {"control-qos": 1, "alias-redefined": 1}


def test_rules_are_chosen_by_name_and_severity(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--rule", "control-qos", REMAPPED]) == 0
    assert "alias-redefined" not in capsys.readouterr().out
    assert main(["check", "--severity", "error", REMAPPED]) == 1
    assert "control-qos" not in capsys.readouterr().out


def test_capture_without_errors_is_exit_0(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = clean(tmp_path / "clean.pcapng", 3)
    assert main(["check", str(path)]) == 0
    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{path}: 0 errors, 0 warnings, 0 notes in ")


def test_output_is_bounded_and_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorder = Recorder(1)
    session = LegalSession(recorder, protocol="tcp", lowlatency=False)
    session.open()
    for _ in range(30):
        session.send(0, push("a//\x1b[31m\u202ered"))
    recorder.write(tmp_path / "many.pcapng")
    assert main(["check", "--limit", "3", str(tmp_path / "many.pcapng")]) == 1
    text = capsys.readouterr().out
    assert text.count("  packet ") == 3
    assert "  ... 27 more times" in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_rules_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--list"]) == 0
    text = capsys.readouterr().out
    assert all(rule.id in text and rule.page in text for rule in RULES.values())
    assert main(["check", "--list", "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["rule"] for line in lines] == list(RULES)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "a capture is needed, or --list"),
        (["nothing.pcap"], "nothing.pcap: cannot be opened: No such file or directory"),
        (["--rule", "no-such", REMAPPED], "there is no rule 'no-such'"),
        (["--limit", "0", REMAPPED], "--limit must be at least 1, not 0"),
        (["--port", "0", REMAPPED], "--port must be 1 to 65535, not 0"),
    ],
)
def test_wrong_arguments_are_an_error_in_one_line(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert complaint_of(capsys, "check", *arguments).startswith(complaint)


def test_a_damaged_file_is_exit_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = clean(tmp_path / "clean.pcapng", 3)
    path.write_bytes(path.read_bytes()[:-7])
    assert main(["check", str(path)]) == 1
    assert "the file is damaged" in capsys.readouterr().out
