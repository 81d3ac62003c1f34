"""zenlake pipeline as users run it: in a process of its own, and its output."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.command import assert_refused
from tests.trace.sidecar import PATHS
from tests.zenlake_process import run_zenlake
from zenlake.cli.pipeline_progress import ProgressLine

pytest.importorskip("pyspark", reason="needs zenlake[lake]")
pytestmark = [pytest.mark.xdist_group("pipeline"), pytest.mark.spark]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_zenlake("pipeline", *arguments, timeout_s=500)


def test_a_summary_that_says_why(tmp_path: Path) -> None:
    lake, bad = str(tmp_path / "lake"), tmp_path / "bad.pcap"
    bad.write_bytes(b"no capture at all")
    captures = [str(PATHS[name]) for name in ("queries", "impaired")]
    done = run(*captures, str(bad), "--lake", lake)
    assert done.returncode == 1
    assert done.stderr == f"zenlake: {bad}: neither pcap nor pcapng: it begins with 6e 6f 20 63\n"
    text = done.stdout
    for words in (
        "2 captures, 374 KB, 1,596 packets",
        "1,758 messages",
        "51 answered, 4 error, 3 timeout, 2 empty",
        "did not answer within the timeout of 150 ms; no reply",
        "slowest  db/b?slow  first 401.43 ms, final 401.54 ms",
        "tcp_gap        5 x  5.8 KB",
        "gap: 30349 bytes",
        "lossy/stream",
    ):
        assert words in text, words


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["-"], "standard input cannot be read by several tasks: name a file"),
        (["nothing.pcap"], "nothing.pcap: cannot be opened: No such file or directory"),
    ],
)
def test_wrong_arguments_are_an_error_in_one_line(
    arguments: list[str], complaint: str, tmp_path: Path
) -> None:
    lake = str(tmp_path / "lake")
    done = run(*arguments, "--lake", lake, "--master", "local[1]")
    assert_refused(done, f"zenlake: {complaint}\n")


def test_progress_adds_up_the_counts_of_tasks(tmp_path: Path) -> None:
    class Terminal:
        def isatty(self) -> bool:
            return False

    progress = ProgressLine(Terminal(), is_silent=True)  # type: ignore[arg-type]  # all it asks
    progress.pipeline_step("survey", tmp_path, 0)
    assert progress.line().startswith("surveying the captures")
    progress.pipeline_step("read", tmp_path, 200_000)
    (tmp_path / "progress-0-0").write_text("300")
    (tmp_path / "progress-0-1").write_text("200")
    (tmp_path / "progress-1-0").write_text("")
    line = progress.line()
    assert "500 messages" in line
    assert "left" in line
