"""The command as users call it: in a process of its own, or through `main`."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import time

import pytest

import zenlake
from tests.cli.command import assert_refused, complaint_of
from tests.paths import CAPTURES, DOCS, ROOT
from tests.zenlake_process import ZENLAKE, run_zenlake
from zenlake._compiled import is_compiled
from zenlake.cli.main import COMMANDS, main

PUSH = "7d 00 06 64 65 6d 6f 2f 61 01 05 68 65 6c 6c 6f"


def test_version_shows_whether_it_is_compiled() -> None:
    kind = "compiled" if is_compiled() else "not compiled"
    assert run_zenlake("--version").stdout == f"zenlake {zenlake.__version__} ({kind})\n"
    assert run_zenlake("router", "-V").stdout == f"zenlake {zenlake.__version__} ({kind})\n"


def test_help_lists_every_command_and_examples() -> None:
    result = run_zenlake("--help")
    assert result.returncode == 0
    assert all(f"    {name}" in result.stdout for name in COMMANDS)
    assert "examples:" in result.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit:
        main([command, "--help"])
    assert exit.value.code == 0
    text = capsys.readouterr().out
    assert f"zenlake {command}" in text
    assert "example" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_is_documented(command: str) -> None:
    pages = [ROOT / "README.md", *DOCS.glob("*.md")]
    assert any(re.search(rf"\bzenlake {command}\b", page.read_text()) for page in pages)


def test_help_is_fast() -> None:
    """The command starts within 300 ms; the best of a few counts, as the machine may be busy."""
    times = []
    for _ in range(5):
        start = time.monotonic()
        run_zenlake("--help")
        times.append(time.monotonic() - start)
    assert min(times) < 0.3


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("explain", "7d0"), "3 hexadecimal digits"),
        (("explain", "xyz"), "'x' is no hexadecimal digit"),
        (("explain", "--as", "nothing", "00"), "invalid choice"),
        (("ke", "intersects", "a//b", "c"), "a chunk is empty"),
        (("ke", "intersects", "a"), "takes two key expressions"),
        (("ke", "canonize", "a", "b"), "takes one key expression"),
        (("nonsense",), "invalid choice"),
    ],
)
def test_a_wrong_call_gets_one_line_and_code_2(arguments: tuple[str, ...], complaint: str) -> None:
    assert_refused(run_zenlake(*arguments), complaint)


def test_explain_prints_without_colour_when_piped() -> None:
    result = run_zenlake("explain", *PUSH.split())
    assert result.returncode == 0
    assert "'demo/a'" in result.stdout
    assert "\x1b" not in result.stdout


def test_explain_reads_hex_dumps_from_standard_input() -> None:
    dump = "00000000  7d 00 06 64 65 6d 6f 2f  61 01 05 68 65 6c 6c 6f  |}..demo/a..hello|\n"
    assert "'hello'" in run_zenlake("explain", "-", stdin=dump).stdout


def test_explain_of_broken_bytes_is_a_negative_answer() -> None:
    result = run_zenlake("explain", "--as", "network", "7d", "00", "06", "64")
    assert result.returncode == 1
    assert "it claims 6 bytes, 1 are left" in result.stdout


def test_explain_json_is_one_object_a_line() -> None:
    result = run_zenlake("explain", "--json", *PUSH.split())
    assert result.stdout.count("\n") == 1
    assert json.loads(result.stdout)["as"] == "network"


@pytest.mark.parametrize(
    ("arguments", "answer", "code"),
    [
        (("canonize", "a/**/**/*"), "a/*/**", 0),
        (("intersects", "a/*", "a/b"), "true", 0),
        (("intersects", "a/*", "a/@b"), "false", 1),
        (("includes", "a/**", "a/b/c"), "true", 0),
        (("includes", "a/b", "a/**"), "false", 1),
        (("relation", "a/**", "a/b"), "includes", 0),
        (("relation", "a", "b"), "disjoint", 1),
    ],
)
def test_ke_answers(
    arguments: tuple[str, ...], answer: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ke", *arguments]) == code
    assert capsys.readouterr().out == f"{answer}\n"


def test_ke_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    main(["ke", "--json", "intersects", "a/*", "a/b"])
    answer = json.loads(capsys.readouterr().out)
    assert answer == {"operation": "intersects", "a": "a/*", "b": "a/b", "answer": True}


def test_demo_shows_failures_of_the_shipped_capture() -> None:
    """The command with nothing but the package: no Java, no Spark, no extra."""
    program = """
import sys
sys.path.append("")
class Base:
    def find_spec(self, name, path=None, target=None):
        if name in ("numpy", "pyarrow", "duckdb", "pandas", "pyspark", "py4j", "numba"):
            raise AssertionError(f"{name} is imported")
sys.meta_path.insert(0, Base())
from zenlake.cli.main import main
sys.exit(main())
"""
    result = subprocess.run(
        [sys.executable, "-c", program, "demo"], capture_output=True, text=True, timeout=60
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert "robot/arm/pose: timed out after 500 ms" in result.stdout
    assert "chunk 3 of `robot/arm/status` is `status`, not" in result.stdout
    assert "3 queries: 1 answered, 1 final_missing and 1 key_mismatch" in result.stdout
    assert "more lines" not in result.stdout.partition("# What failed")[2]


def test_demo_shows_another_capture(capsys: pytest.CaptureFixture[str]) -> None:
    capture = CAPTURES / "queries.pcapng.gz"
    assert main(["demo", str(capture)]) == 0
    out = capsys.readouterr().out
    assert f"$ zenlake why {capture}\nQuery 9 from client 15b5 for db/b?slow" in out
    assert out.count("more lines") == 2
    assert f"$ zenlake report {capture}\n" in out


def test_demo_reports_an_invalid_file(capsys: pytest.CaptureFixture[str]) -> None:
    complaint = complaint_of(capsys, "demo", __file__)
    assert complaint.startswith(f"{__file__}: neither pcap nor pcapng")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_commands_and_flags(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(word in script for word in (*COMMANDS, "--dialect", "intersects"))


def test_the_bash_completion_completes() -> None:
    script = run_zenlake("completion", "bash").stdout
    ask = "COMP_WORDS=(zenlake ex); COMP_CWORD=1; _zenlake; echo ${COMPREPLY[@]}"
    result = subprocess.run(["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True)
    assert result.stdout == "explain\n"


def test_a_closed_pipe_is_no_error() -> None:
    command = f"{shlex.join(ZENLAKE)} demo | head -1"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=30)
    assert result.stderr == ""
