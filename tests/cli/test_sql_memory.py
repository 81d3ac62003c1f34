"""zenlake sql on DuckDB: a statement's memory and time are bounded, whatever functions it calls."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.child_process import child_environment

pytest.importorskip("duckdb", reason="needs zenlake[sql]")

from tests.cli import sql_lake
from tests.cli.test_interrupts import WAIT_SECONDS, in_session, start
from tests.waiting import until
from zenlake.cli.main import main
from zenlake.cli.sql import MEMORY_MIB_MIN
from zenlake.lake.sql.bounded_process import engine_bytes
from zenlake.limits import SQL_BYTES_MAX, SQL_UNCOUNTED_BYTES_MAX

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="Linux counts it")

MIB = 256
# Each takes more than `MIB`, and DuckDB counts none or little of it. Some are long to compute:
# they fail when they have allocated so much.
HUNGRY = (
    "SELECT repeat('x', 3000000000)",
    "SELECT length(repeat('x', 3000000000))",
    "SELECT rpad('x', 1000000000, 'y')",
    "SELECT max(length(s)) FROM "
    "(SELECT string_agg(repeat('x', 1000), ',') AS s FROM range(1000000))",
    "SELECT len(range(300000000))",
    "SELECT unnest(generate_series(1, 300000000)) LIMIT 1",
    "SELECT length(repeat('x', 200000000) || repeat('y', 200000000))",
    "SELECT length(replace(repeat('x', 10000000), 'x', repeat('y', 100)))",
    "SELECT length(regexp_replace(repeat('x', 30000000), 'x', repeat('y', 20), 'g'))",
    "SELECT length(format('{:1000000000}', 'x'))",
    "SELECT length(printf('%1000000000d', 1))",
    "SELECT list_reduce(list_transform(range(40), lambda x: 'ab'), lambda a, b: a || a)",
    "SELECT repeat([1, 2, 3], 300000000)",
    "SELECT length(to_json(range(100000000))::VARCHAR)",
    "WITH RECURSIVE t(x) AS (SELECT 'ab' UNION ALL SELECT x || x FROM t "
    "WHERE length(x) < 2000000000) SELECT max(length(x)) FROM t",
    "SELECT list(range) FROM range(100000000)",
    "SELECT repeat('x', 1000000) FROM range(1000)",
    "SELECT [repeat(chr(233), 20000000)] FROM range(20)",
    "SELECT zenoh_explain(repeat('a', 600000000)::BLOB)",
    "SELECT ke_intersects(repeat('a', 200000000), 'b')",
    "SELECT ros_json(repeat('a', 100000000), repeat('a', 100000000)::BLOB)",
)
RUN_ALL = """
import json, resource, sys
from zenlake.cli.sql_rows import json_lines
from zenlake.errors import ZenlakeError
from zenlake.lake.sql import on_duckdb
from zenlake.lake.sql.bounded_process import run_bounded
from zenlake.lake.publish import Store

lake, mib, *statements = json.loads(sys.stdin.read())
snapshot = Store(lake).snapshot()
before = resource.getrlimit(resource.RLIMIT_DATA)

def read(sql):
    with on_duckdb.query(snapshot, sql, 60, mib << 20) as result:
        return sum(len(line) for line in json_lines(result))

for sql in statements:
    try:
        print(json.dumps(run_bounded(lambda: read(sql), mib << 20)))
    except ZenlakeError as error:
        print(json.dumps(str(error)))
assert resource.getrlimit(resource.RLIMIT_DATA) == before
own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss - own)
"""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sql_lake.make(tmp_path_factory.mktemp("memory") / "a.lake").directory


def run_all(lake: Path, mib: int, *statements: str) -> tuple[list[int | str], int]:
    """The error or the length of the answer of each statement, and the peak memory in KiB."""
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALL],
        input=json.dumps([str(lake), mib, *statements]),
        capture_output=True,
        text=True,
        check=True,
        env=child_environment(),
    )
    assert done.stderr == ""
    *results, peak = map(json.loads, done.stdout.splitlines())
    return results, peak


def test_no_statement_uses_more_memory_than_the_limit(lake: Path) -> None:
    results, peak = run_all(lake, MIB, *HUNGRY)
    assert len(results) == len(HUNGRY)
    for sql, result in zip(HUNGRY, results, strict=True):
        expected = f"SQL: the statement needs more than {MIB} MiB of memory: "
        assert str(result).startswith(expected), f"{sql}: {str(result)[:200]}"
        assert "\n" not in str(result)
        assert "Possible solutions" not in str(result)
    assert peak < (MIB + 64) << 10


def test_statement_that_spills_finds_room(lake: Path) -> None:
    """DuckDB writes to the disk long before the kernel refuses memory."""
    spilling = (
        "SELECT count(DISTINCT hash(range)) FROM range(10000000)",
        "SELECT count(*), max(h) FROM "
        "(SELECT range, hash(range) AS h FROM range(5000000) ORDER BY h)",
        "SELECT count(*) FROM (SELECT hash(range) AS h FROM range(4000000)) "
        "JOIN (SELECT hash(range) AS h FROM range(4000000)) USING (h)",
    )
    results, _ = run_all(lake, 1024, *spilling)
    assert all(isinstance(result, int) for result in results), results


def test_engine_limit_leaves_room_for_uncounted_memory() -> None:
    assert engine_bytes(SQL_BYTES_MAX) == SQL_BYTES_MAX - SQL_UNCOUNTED_BYTES_MAX == 1 << 30
    assert engine_bytes(MIB << 20) == 64 << 20


@pytest.mark.parametrize("output", [(), ("--json",), ("-o", "a.parquet"), ("-o", "a.csv")])
def test_command_prints_the_error_in_one_line(
    lake: Path, tmp_path: Path, output: tuple[str, ...]
) -> None:
    sql = "SELECT repeat('x', 3000000000) AS x"
    process = start(tmp_path, "sql", "--lake", str(lake), "--memory", str(MIB), *output, sql)
    out, err = process.communicate()
    assert out == b""
    assert err.startswith(b"zenlake: SQL: the statement needs more than 256 MiB of memory: ")
    assert err.count(b"\n") == 1
    assert process.returncode == 2
    assert list(tmp_path.iterdir()) == []


def test_answer_is_written_whole(lake: Path, tmp_path: Path) -> None:
    for name in ("a.parquet", "a.csv"):
        process = start(tmp_path, "sql", "--lake", str(lake), "-o", name, "FROM samples")
        assert process.communicate() == (f"5 rows written to {name}\n".encode(), b"")
        assert process.returncode == 0
        (tmp_path / name).unlink()
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("wrong", ["0", "63", "-1", "x", "1.5", "9" * 30])
def test_memory_must_be_a_number(
    wrong: str, lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert MEMORY_MIB_MIN == 64
    with pytest.raises(SystemExit):
        main(["sql", "--lake", str(lake), "--memory", wrong, "SELECT 1"])
    assert "not a number of MiB from 64 on" in capsys.readouterr().err


# DuckDB looks for no interrupt inside a function, which takes hours here.
STUCK = "SELECT levenshtein(repeat('a', 1000000), repeat('b', 1000000))"


def test_function_that_takes_too_long_is_ended(lake: Path, tmp_path: Path) -> None:
    process = start(tmp_path, "sql", "--lake", str(lake), "--timeout", "0.5", STUCK)
    out, err = process.communicate(timeout=60)
    assert (out, err) == (b"", b"zenlake: SQL: it took longer than 0.5 s and was ended\n")
    assert process.returncode == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 128 + signal.SIGINT), (signal.SIGTERM, 128 + signal.SIGTERM)],
)
def test_signal_ends_a_function_at_once(
    lake: Path, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    process = start(tmp_path, "sql", "--lake", str(lake), "--timeout", "0", STUCK)
    until(lambda: len(in_session(process)) == 2, WAIT_SECONDS)
    os.killpg(process.pid, number)
    assert process.communicate(timeout=60) == (b"", b"")
    assert process.returncode == code
    assert in_session(process) == []
    assert list(tmp_path.iterdir()) == []


def test_statement_ends_when_the_command_is_killed(lake: Path, tmp_path: Path) -> None:
    process = start(tmp_path, "sql", "--lake", str(lake), "--timeout", "0", STUCK)
    until(lambda: len(in_session(process)) == 2, WAIT_SECONDS)
    process.kill()
    process.communicate(timeout=60)
    until(lambda: not in_session(process), WAIT_SECONDS)


ABORT = """
from zenlake.lake.sql import on_duckdb
import os, signal, sys
def query(*_):
    os.write(2, b"terminate called after throwing an instance of 'std::bad_alloc'\\n")
    %s
on_duckdb.query = query
"""


@pytest.mark.parametrize("name", ["SIGABRT", "SIGSEGV", "SIGKILL"])
def test_process_that_dies_is_an_error_in_one_line(lake: Path, tmp_path: Path, name: str) -> None:
    before = ABORT % f"os.kill(os.getpid(), signal.{name})"
    process = start(tmp_path, "sql", "--lake", str(lake), "SELECT 1", before=before)
    expected = f"zenlake: SQL: the statement needs more than {SQL_BYTES_MAX >> 20} MiB of memory: "
    assert process.communicate() == (b"", f"{expected}its process ended with {name}\n".encode())
    assert process.returncode == 2


def test_error_of_ours_keeps_its_traceback(lake: Path, tmp_path: Path) -> None:
    process = start(tmp_path, "sql", "--lake", str(lake), "SELECT 1", before=ABORT % "1 / 0")
    out, err = process.communicate()
    assert out == b""
    assert b"ZeroDivisionError" in err
    assert process.returncode == 1


def test_closed_pipe_ends_the_statement(lake: Path, tmp_path: Path) -> None:
    asked = ("sql", "--lake", str(lake), "--csv", "FROM range(100000000)")
    with start(tmp_path, *asked) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"range\n"
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0
