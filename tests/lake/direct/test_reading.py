"""Captures are read into tables of a temporary folder, in this process or in workers."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.child_process import child_environment
from tests.lake.direct.failing import end_at_once, say_why
from tests.leftovers import own_cleanups
from tests.trace.sidecar import PATHS
from zenlake import exit_cleanups
from zenlake.errors import LocalError
from zenlake.lake import direct
from zenlake.lake.direct import capture_tables
from zenlake.lake.direct.workers import Workers
from zenlake.lake.errors import LakeError
from zenlake.lake.plan.capture_names import why_not_opened
from zenlake.lake.publish import Snapshot
from zenlake.lake.schema import TABLES
from zenlake.lake.source import planning
from zenlake.lake.source.options import read_options
from zenlake.lake.sql import on_duckdb

QUERIES = str(PATHS["queries"])
ROUTERS = str(PATHS["routers_ring"])


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


def rows(snapshot: Snapshot, table: str) -> Counter[str]:
    files = [pq.ParquetFile(path).read() for path in snapshot.files(table)]
    left_out = {"read_ns", "read_at"}  # when it was read
    found = [row for file in files for row in file.to_pylist()]
    return Counter(str({k: v for k, v in row.items() if k not in left_out}) for row in found)


def test_worker_processes_return_the_same_rows(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with direct.read([QUERIES, ROUTERS]) as tables:
        expected = {name: rows(tables.snapshot(), name) for name in TABLES}
        assert expected["captures"].total() == 2
        assert expected["queries"].total() > 100
        assert expected["adjacencies"].total() > 5
    monkeypatch.setattr(capture_tables, "PROCESS_BYTES_MIN", 1)
    with direct.read([QUERIES, ROUTERS]) as tables:
        assert {name: rows(tables.snapshot(), name) for name in TABLES} == expected
        assert list(temporary.iterdir())
    assert not list(temporary.iterdir())


def test_tables_that_are_not_requested_are_empty() -> None:
    with direct.read([QUERIES], ["queries"]) as tables:
        snapshot = tables.snapshot()
        assert rows(snapshot, "queries")
        for name in ("messages", "samples", "violations", "declarations"):
            assert not rows(snapshot, name)
            assert pq.read_schema(snapshot.files(name)[0]).names == TABLES[name].names


def test_patterns_and_folders_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.pcapng.gz", "b.pcapng.gz"):
        (tmp_path / name).write_bytes(Path(QUERIES).read_bytes())
    monkeypatch.chdir(tmp_path)
    for paths, expected in (
        (["*.pcapng.gz"], {"a.pcapng.gz", "b.pcapng.gz"}),
        (["."], {"./a.pcapng.gz", "./b.pcapng.gz"}),
        (["b.pcapng.gz", "a.*"], {"a.pcapng.gz", "b.pcapng.gz"}),
    ):
        with direct.read(paths, []) as tables:
            assert set(tables.snapshot().manifest.captures) == expected
            assert tables.directory == Path()


def test_file_that_is_not_a_capture_is_named_in_the_error(
    temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.pcap").write_bytes(b"not a capture")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LakeError, match=r"^x\.pcap: neither pcap nor pcapng"):
        direct.read([QUERIES, "x.pcap"]).__enter__()
    with pytest.raises(LakeError, match=r"^y\.pcap: cannot be opened: No such file"):
        direct.read(["y.pcap"]).__enter__()
    monkeypatch.setattr(capture_tables, "PROCESS_BYTES_MIN", 1)
    with pytest.raises(LakeError, match=r"^x\.pcap: neither pcap nor pcapng"):
        direct.read(["x.pcap"]).__enter__()
    assert not list(temporary.iterdir())


def test_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    pipe = str(tmp_path / "pipe.pcap")
    os.mkfifo(pipe)
    cause = f"{pipe}: a pipe or device, which is read only once: give a file"
    with pytest.raises(LakeError, match=re.escape(cause)):
        direct.read([pipe]).__enter__()
    assert why_not_opened(pipe) == cause
    with pytest.raises(LocalError, match=re.escape(cause)):
        planning.tasks_for(read_options({"path": pipe}), False)


def test_a_damaged_capture_is_read_as_far_as_possible(tmp_path: Path) -> None:
    content = Path(PATHS["alias_remapped"]).read_bytes()
    damaged = tmp_path / "damaged.pcapng"
    damaged.write_bytes(content[: len(content) // 2])
    with direct.read([str(damaged)], ["messages"]) as tables:
        assert tables.damaged == [str(damaged)]
        assert rows(tables.snapshot(), "messages")


def test_full_disk_is_an_error_in_one_line(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq, "write_table", full)
    with pytest.raises(LakeError, match=r"zenlake-\w+: No space left on device"):
        direct.read([QUERIES], []).__enter__()
    assert not list(temporary.iterdir())


def test_a_signal_handler_can_remove_the_folder(temporary: Path) -> None:
    with own_cleanups(), direct.read([QUERIES], []):
        assert list(temporary.iterdir())
        exit_cleanups.run_all()
        assert not list(temporary.iterdir())


def test_an_invalid_query_fails_before_a_large_capture_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    direct.check([QUERIES], "SELECT no_column FROM queries")  # it is small
    monkeypatch.setattr(capture_tables, "PROCESS_BYTES_MIN", 1)
    with pytest.raises(LakeError, match=r"^SQL line 1, column 8: .*no_column"):
        direct.check([QUERIES], "SELECT no_column FROM queries")
    with pytest.raises(LakeError, match="only read"):
        direct.check([QUERIES], "DROP TABLE queries")
    for sql in (
        "SELECT ke_intersects(key, 'a/**') FROM queries",
        "PIVOT queries ON verdict",
        "EXPLAIN FROM queries",
        "SHOW TABLES",
        "DESCRIBE queries",
        "SUMMARIZE queries",
        "SELECT count(*) FROM queries, range(100000000), range(100000) b WHERE b.range < -1",
    ):
        direct.check([QUERIES], sql)


def test_duckdb_shows_no_progress_bar() -> None:
    """Workers are started by `python -c`, where DuckDB assumes an interactive shell."""
    program = """
from pathlib import Path
from tempfile import TemporaryDirectory
from zenlake.errors import LocalError
from zenlake.lake import direct
from zenlake.lake.sql import on_duckdb
from zenlake.lake.direct.capture_tables import no_rows
from zenlake.lake.derive.duck import Engine

setting = "SELECT current_setting('enable_progress_bar')"
with TemporaryDirectory() as folder, no_rows() as tables:
    with Engine(Path(folder)) as engine, engine.second_connection() as beside:
        for one in (engine, beside):
            print(one.connection.execute(setting).fetchone())
    with on_duckdb.opened(tables.snapshot(), folder) as connection:
        print(connection.execute(setting).fetchone())
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert done.stdout.splitlines() == [b"(False,)"] * 3


def test_error_in_a_worker_is_raised_here() -> None:
    with Workers(1) as workers:
        with pytest.raises(LakeError, match="no such luck"):
            workers.run(say_why, [{"why": "no such luck"}])
        with pytest.raises(LakeError, match=r"ended by itself \(exit code 3\)"):
            workers.run(end_at_once, [{}])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_workers_and_removes_the_folder(
    tmp_path: Path, number: signal.Signals
) -> None:
    program = f"""
import signal, sys
from zenlake.lake.direct import capture_tables
from tests.lake.direct.failing import wait_for_ever
from zenlake.cli.__main__ import run

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    capture_tables.PROCESS_BYTES_MIN = 1
    capture_tables.read_capture = wait_for_ever
    sys.argv[1:] = ["sql", {QUERIES!r}, "FROM queries"]
    run()
"""
    path = tmp_path / "program.py"
    path.write_text(program)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    process = subprocess.Popen(
        [sys.executable, str(path)],
        env=child_environment(TMPDIR=str(temporary)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        assert int(process.stdout.readline()) != process.pid
        if number == signal.SIGINT:
            os.killpg(process.pid, number)  # as a terminal does: to all processes of the group
        else:
            process.send_signal(number)
        # A worker holds the other end of the pipes until it ends.
        assert process.communicate(timeout=60) == (b"", b"")
        if number != signal.SIGKILL:  # cannot be handled
            assert process.returncode == 128 + number
            assert not list(temporary.iterdir())
    finally:
        process.kill()
        process.wait()


def test_tables_are_queried_like_those_of_a_lake() -> None:
    sql = "SELECT verdict, count(*) AS n FROM queries GROUP BY 1 ORDER BY 1"
    with (
        direct.read([QUERIES], direct.tables_in(sql)) as tables,
        on_duckdb.query(tables.snapshot(), sql) as result,
    ):
        assert dict(result.rows)["answered"] > 100
