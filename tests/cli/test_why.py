"""zenlake why: its text and JSON output."""

from __future__ import annotations

import io
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import complaint_of
from tests.paths import CAPTURES, DOCS, ROOT
from tests.why.bundled_stories import DATA, packets_of, path_of, truth_of
from tests.why.evidence_by_hand import asked, at, declared, evidence
from zenlake.cli.main import main
from zenlake.cli.why_text import ReportText
from zenlake.why import Scope, report

PAGE = (DOCS / "why.md").read_text()
EXAMPLES = re.findall(r"```\n\$ zenlake (why .*?)\n(.*?)```", PAGE, re.DOTALL)


def run_why(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["why", *arguments])
    return code, capsys.readouterr().out


def stories_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    _, out = run_why(capsys, "--json", *arguments)
    return [json.loads(line) for line in out.splitlines()]


def test_the_page_has_examples_of_every_row() -> None:
    assert len(EXAMPLES) >= 6
    named = {Path(word).name for command, _ in EXAMPLES for word in shlex.split(command)}
    truths = [truth_of(name.partition(".")[0]) for name in named & _files()]
    rows = {truth["row"][:6].strip() for truth in truths if "row" in truth}
    assert rows >= {"Row 3", "Row 4", "Row 5", "Row 6", "Row 7", "Row 8", "Row 9", "Row 10"[:6]}


def _files() -> set[str]:
    return {path.name for path in DATA.glob("*.pcapng.gz")}


@pytest.mark.parametrize(("command", "shown"), EXAMPLES)
def test_the_page_shows_what_is_printed(
    command: str, shown: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    main(shlex.split(command))
    out = capsys.readouterr().out
    head, dots, _ = shown.partition("...\n")
    assert out.startswith(head) if dots else out == shown


def test_exit_codes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run_why(capsys, path_of("held_query"))[0] == 1
    assert run_why(capsys, path_of("consolidated"))[0] == 0
    assert run_why(capsys, path_of("held_query"), "--key", "nothing/here")[0] == 0
    damaged = tmp_path / "cut.pcapng.gz"
    damaged.write_bytes(Path(path_of("consolidated")).read_bytes()[:-40])
    assert run_why(capsys, str(damaged))[0] == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["no such file"], "no such file"),
        ([str(DATA)], "lake"),
        ([path_of("held_query"), "--query", "77"], "no query 77"),
        ([path_of("held_query"), "--query", "x"], "not a request id"),
        ([path_of("held_query"), "--key", "a//b"], "empty"),
        ([path_of("held_query"), "-n", "0"], "less than 1"),
        ([path_of("held_query"), "--capture", "x"], "for lakes"),
    ],
)
def test_wrong_calls(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert says in complaint_of(capsys, "why", *arguments)


def test_json_has_cause_culprit_and_nodes(capsys: pytest.CaptureFixture[str]) -> None:
    truth = truth_of("held_query")
    story, summary = stories_json(capsys, path_of("held_query"))
    assert story["cause"] == "final_missing"
    assert story["failed"] is True
    assert story["culprit_zid"] == truth["server"]
    assert {node["zid"]: node["role"] for node in story["nodes"]} == {
        truth["asker"]: "client",
        truth["server"]: "client",
        truth["router"]: "router",
    }
    assert story["packet"] == packets_of("held_query", "REQUEST", truth["asker"])[0]
    assert [step["time_ns"] for step in story["steps"]] == sorted(
        step["time_ns"] for step in story["steps"]
    )
    assert summary["subject"] == "summary"
    assert summary["counts"] == {"query": {"final_missing": 1}}


def test_a_query_is_found_by_each_of_its_names(capsys: pytest.CaptureFixture[str]) -> None:
    [story, _] = stories_json(capsys, path_of("nothing_came"), "--query", "3")
    assert story["request_id"] == 3
    for name in (f"{story['session']}/3", str(story["trace_id"])):
        assert stories_json(capsys, path_of("nothing_came"), "--query", name)[0] == story


def test_a_number_that_several_queries_have(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    capture = "tests/data/captures/old_release_1_0_4.pcapng.gz"
    code, out = run_why(capsys, capture, "--query", "1")
    names = re.findall(r"--query (\S+)", out)
    assert len(names) == len(set(names)) > 1
    assert code in (0, 1)
    for name in names:
        assert run_why(capsys, capture, "--query", name)[1].startswith("Query 1 from ")


def test_at_shows_the_story_of_a_packet(capsys: pytest.CaptureFixture[str]) -> None:
    [packet] = packets_of("dropped", "PUSH/PUT", key="lidar/image")[:1]
    [story, _] = stories_json(capsys, path_of("dropped"), "--at", str(packet))
    assert (story["subject"], story["key"]) == ("publication", "lidar/image")


def test_the_number_of_stories_is_limited(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(stories_json(capsys, path_of("nothing_came"), "-n", "2")) == 3
    assert (
        "3 further stories not shown (-n 5 shows all)"
        in (run_why(capsys, path_of("nothing_came"), "-n", "2")[1])
    )


def test_standard_input_is_explained(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = Path(path_of("held_query")).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    code, out = run_why(capsys, "-")
    assert code == 1
    assert "never sent its RESPONSE_FINAL" in " ".join(out.split())


def test_lines_fit_and_control_characters_are_escaped() -> None:
    key = "evil/\x1b]0;owned\x07/\u202e/" + "long/" * 40 + "end"
    made = evidence(
        queries=[asked(10, key, final=at(11))], declarations=[declared("queryable", f"{key}/x")]
    )
    wanted = Scope(key="**")
    lines = list(ReportText(report(made, wanted), wanted, io.StringIO()).lines(10))
    assert all(line.isprintable() for line in lines)
    assert all(len(line) <= 100 for line in lines)
    assert any(r"\x1b]0;owned\x07" in line for line in lines)
    values = list(ReportText(report(made, wanted), wanted, io.StringIO()).json_values(10))
    assert values[0]["key"] == key
    assert json.loads(json.dumps(values[0], ensure_ascii=True)) == values[0]


def test_missing_parts_of_a_capture_are_reported(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(CAPTURES)
    assert "are encrypted (TLS or QUIC)" in run_why(capsys, "encrypted_links.pcapng.gz")[1]
    assert "began before the capture" in run_why(capsys, "midstream.pcapng.gz")[1]
    assert "The capture lacks" in run_why(capsys, "impaired.pcapng.gz")[1]


def without_extras(path: str) -> subprocess.CompletedProcess[str]:
    """The command where neither Spark nor Arrow nor DuckDB are installed."""
    code = (
        "import sys\n"
        "for name in ('pyarrow', 'duckdb', 'pyspark', 'numpy', 'numba'): sys.modules[name] = None\n"
        "from zenlake.cli.main import main\n"
        f"sys.exit(main(['why', {path!r}]))"
    )
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_capture_needs_no_extra() -> None:
    done = without_extras(path_of("held_query"))
    assert (done.returncode, done.stderr) == (1, "")
    assert "RESPONSE_FINAL" in done.stdout


def test_a_lake_needs_the_sql_extra(tmp_path: Path) -> None:
    done = without_extras(str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'zenlake[sql]'" in done.stderr


def test_several_captures(capsys: pytest.CaptureFixture[str]) -> None:
    one, other = sorted(str(path) for path in DATA.glob("*.pcapng.gz"))[:2]
    code, out = run_why(capsys, one, other)
    assert code in (0, 1)
    assert one in out
    assert other in out
    assert out.index(one) < out.index(other)
    assert "standard input can be read only once" in complaint_of(capsys, "why", "-", "-")
