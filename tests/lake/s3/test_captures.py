"""Captures on a server of the S3 protocol: files are found and read as those of a folder."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from threading import Barrier

import pytest

from tests.lake.faults.captures import replicated
from tests.lake.s3 import server
from tests.lake.s3.server import BUCKET
from tests.lake.source.reading import read, rows
from tests.trace.sidecar import PATHS
from zenlake.cli.main import main
from zenlake.errors import ZenlakeError
from zenlake.lake import direct
from zenlake.lake.plan import survey_task
from zenlake.lake.plan.file_search import FileChoice
from zenlake.lake.plan.inputs import captures_in, inputs_of
from zenlake.lake.source import planning, stored
from zenlake.lake.source.live.planner import open_folder
from zenlake.lake.source.options import read_options

pytestmark = pytest.mark.xdist_group("s3")

QUERIES = PATHS["queries"]
ROUTER = PATHS["pubsub_router"]
NAMES = (
    *("a.pcap", "b.pcapng.gz", "_tmp.pcap", ".x.pcap", "y.pcap._COPYING_", "notes.txt"),
    *("_day=1.pcap", "x[1].pcap", "sub/c.pcap", "sub/deep/d.pcap", "_old/e.pcap"),
)
FOLDER = f"s3a://{BUCKET}/names"


@pytest.fixture(scope="module", autouse=True)
def folder(s3_port: int, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose files are also in the bucket, which has captures and bad files besides."""
    place, bad = tmp_path_factory.mktemp("names"), tmp_path_factory.mktemp("bad")
    for name in NAMES:
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        server.put(s3_port, path, f"names/{name}")
    for source in (QUERIES, ROUTER):
        server.put(s3_port, source, f"caps/{source.name}")
    (bad / "bad.pcap").write_bytes(b"no capture at all")
    (bad / "empty.pcap").touch()
    for path in bad.iterdir():
        server.put(s3_port, path, f"bad/{path.name}")
    return place


@pytest.fixture(autouse=True)
def environment(s3: int) -> int:
    return s3


def at(name: Path) -> str:
    return f"s3a://{BUCKET}/caps/{name.name}"


def names(path: str, choice: FileChoice, root: str) -> list[str]:
    return [one.capture.removeprefix(f"{root}/") for one in inputs_of([path], choice)]


@pytest.mark.parametrize("path", ["", "/*", "/*.pcap", "/?.pcap", "/{a,sub/c}.pcap", "/**/*.pcap"])
@pytest.mark.parametrize(
    "choice",
    [FileChoice(), FileChoice("*.{pcap,txt}"), FileChoice(is_recursive=True)],
    ids=["all", "filter", "recursive"],
)
def test_same_files_are_found_as_in_a_folder(path: str, choice: FileChoice, folder: Path) -> None:
    expected = names(f"{folder}{path}", choice, str(folder))
    assert names(f"{FOLDER}{path}", choice, FOLDER) == expected
    assert expected


def test_one_object_has_one_address_and_its_first_name() -> None:
    paths = [f"s3a://{BUCKET}//names/a.pcap", f"s3://{BUCKET}/names/a.pcap", f"{FOLDER}/[a].pcap"]
    assert inputs_of(paths) == [(paths[0], f"s3://{BUCKET}/names/a.pcap")]
    assert captures_in(paths[2:]) == [f"{FOLDER}/a.pcap"]


def test_existing_name_is_not_a_pattern() -> None:
    path = f"{FOLDER}/x[1].pcap"
    assert captures_in([path]) == [one.capture for one in inputs_of([path])] == [path]


def test_empty_names_of_folders_end_a_search() -> None:
    """The listing of a folder then contains the folder itself."""
    client = pytest.importorskip("boto3").client("s3")
    for key in ("odd//b.pcap", "odd/sub/", "odd/a.pcap"):
        client.put_object(Bucket=BUCKET, Key=key, Body=b"")
    folder = f"s3://{BUCKET}/odd"
    for path in (folder, f"{folder}/**/*.pcap"):
        found = inputs_of([path], FileChoice(is_recursive=True))
        assert [one.capture for one in found] == [f"{folder}/a.pcap"]


def test_files_are_chosen_by_time() -> None:
    hour_ns = 3_600 * 10**9
    now_ns = int(datetime.now(UTC).timestamp()) * 10**9
    path = f"{FOLDER}/a.pcap"
    assert inputs_of([path], FileChoice(modified_after_ns=now_ns - hour_ns))
    assert not inputs_of([path], FileChoice(modified_before_ns=now_ns - hour_ns))
    assert not inputs_of([FOLDER], FileChoice(modified_after_ns=now_ns + hour_ns))


@pytest.mark.parametrize(
    ("path", "cause"),
    [
        (f"{FOLDER}/*.none", "no file has such a name$"),
        (f"s3://{BUCKET}/bad/../x", "an address has no '.' or '..' in it"),
        ("s3://rob*/x.pcap", "the bucket or host of an address is no pattern"),
        (f"{FOLDER}/_old/deep", None),
    ],
)
def test_wrong_addresses_are_errors_in_one_line(path: str, cause: str | None) -> None:
    if cause is None:
        assert [one.capture for one in inputs_of([path])] == [path], "reading reports it"
        return
    with pytest.raises(ZenlakeError, match=cause) as raised:
        inputs_of([path])
    assert "\n" not in str(raised.value)


def test_recording_in_a_store_is_refused(s3: int, tmp_path: Path) -> None:
    (tmp_path / "recording.json").write_text("{}")
    place = server.put(s3, tmp_path / "recording.json", "recorded/recording.json")
    server.put(s3, ROUTER, "recorded/00000001.pcapng")
    folder = os.path.dirname(place)
    for path in (folder, f"s3://{BUCKET}/record*"):
        for find in (inputs_of, captures_in):
            with pytest.raises(ZenlakeError, match="a recording in a store: copy it"):
                find([path])
    assert captures_in([f"{folder}/*.pcapng"]) == [f"{folder}/00000001.pcapng"]


@pytest.mark.parametrize("table", ["messages", "queries", "samples", "captures"])
def test_rows_of_the_source_are_those_of_local_files(table: str) -> None:
    for source in (QUERIES, ROUTER):
        found = rows(read(at(source), table))
        assert found == [
            one.replace(str(source), at(source)) for one in rows(read(str(source), table))
        ]
    assert rows(read(f"s3://{BUCKET}/caps", table, pathGlobFilter="q*")) == rows(
        read(f"s3://{BUCKET}/caps/q*.gz", table)
    )


@pytest.mark.parametrize("table", ["messages", "declarations", "queries", "violations"])
def test_large_capture_is_read_in_splits(
    table: str, s3: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = Path(replicated(tmp_path / "large.pcapng", 2, QUERIES.name, ROUTER.name))
    address = server.put(s3, large, f"{table}/large.pcapng")
    expected = rows(read(str(large), table))
    monkeypatch.setattr(survey_task, "SMALL_BYTES", 0)
    monkeypatch.setattr(survey_task, "SPLIT_BYTES", 1 << 16)
    options = read_options({"path": address, "partitions": "3"})
    is_split = table != "queries"
    assert len(planning.tasks_for(options, not is_split)) == (3 if is_split else 1)
    found = rows(read(address, table, partitions="3"))
    assert found == [one.replace(str(large), address) for one in expected]


def test_missing_and_corrupt_files_of_the_source(s3: int) -> None:
    missing, bad = f"{FOLDER}/none.pcap", f"s3a://{BUCKET}/bad"
    with pytest.raises(ZenlakeError, match=rf"^{missing}: cannot be opened: No such file or dir"):
        read(missing)
    assert read(missing, ignoreMissingFiles="true").num_rows == 0
    assert read(f"{FOLDER}/*.none", ignoreMissingFiles="true").num_rows == 0
    with pytest.raises(ZenlakeError, match=rf"^{bad}/bad.pcap: neither pcap nor pcapng"):
        read(f"{bad}/bad.pcap")
    with pytest.raises(ZenlakeError, match=rf"^{bad}/empty.pcap: 0 bytes: not a capture"):
        read(f"{bad}/empty.pcap")
    assert read(bad, ignoreCorruptFiles="true").num_rows == 0


def test_requests_for_many_captures_overlap(s3: int, monkeypatch: pytest.MonkeyPatch) -> None:
    together = Barrier(8, timeout=60)

    def waiting(path: str, folder: Path) -> tuple[int, str]:
        together.wait()
        return head_of(path, folder)

    head_of = stored.head_of
    monkeypatch.setattr(stored, "head_of", waiting)
    for number in range(8):
        server.put(s3, ROUTER, f"many/{number}.pcapng")
    folder = f"s3://{BUCKET}/many"
    tasks = planning.tasks_for(read_options({"path": folder, "partitions": "1"}), False)
    assert [job["capture"] for [*jobs] in tasks for job in jobs] == [
        f"{folder}/{number}.pcapng" for number in range(8)
    ]


@pytest.mark.parametrize("table", ["messages", "queries"])
def test_file_that_disappears_after_planning(table: str, s3: int) -> None:
    path = server.put(s3, ROUTER, f"gone/{table}.pcapng")
    strict, tolerant = (
        read_options({"path": path, "ignoreMissingFiles": flag}) for flag in ("false", "true")
    )
    tasks = planning.tasks_for(strict, False)
    server.client(s3).delete_file(path.removeprefix("s3://"))
    [jobs] = tasks
    with pytest.raises(ZenlakeError, match=f"^{path}: existed when the query was planned"):
        list(planning.present(jobs, strict.tolerance))
    assert list(planning.present(jobs, tolerant.tolerance)) == []


def test_store_that_does_not_answer_is_an_error_without_credentials(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hushhush")
    for path in (at(QUERIES), FOLDER, f"{FOLDER}/*"):
        with pytest.raises(ZenlakeError, match=r"cannot be opened: .*NETWORK_CONNECTION") as raised:
            inputs_of([path])
        assert "hushhush" not in str(raised.value)
        assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "path",
    [
        "s3a://key:hushhush@bucket/x.pcap",
        "s3:key:hushhush@bucket/x.pcap",
        "s3://bucket/x?secret_key=hushhush",
    ],
)
def test_credentials_in_an_address_are_refused_and_not_shown(path: str) -> None:
    for find in (inputs_of, captures_in):
        with pytest.raises(ZenlakeError, match="the address has credentials in it") as raised:
            find([path])
        assert "hushhush" not in str(raised.value)


def test_tables_without_a_lake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sql = "SELECT capture, count(*) AS n FROM queries GROUP BY 1 ORDER BY 1"
    with direct.read([f"s3://{BUCKET}/caps/q*", at(QUERIES)], ["queries"]) as tables:
        assert [*tables.snapshot().manifest.captures] == [f"s3://{BUCKET}/caps/{QUERIES.name}"]
    assert main(["sql", at(QUERIES), "--json", sql]) == 0
    assert capsys.readouterr().out == f'{{"capture": "{at(QUERIES)}", "n": 160}}\n'
    page = tmp_path / "page.html"
    assert main(["report", f"s3a://{BUCKET}/caps", "-o", str(page)]) == 0
    assert at(QUERIES) in page.read_text()
    capsys.readouterr()
    for path, cause in (
        (f"{FOLDER}/none.pcap", "cannot be opened: No such file or directory"),
        (f"s3a://{BUCKET}/bad/bad.pcap", "neither pcap nor pcapng: it begins with 6e 6f 20 63"),
    ):
        assert main(["sql", path, sql]) == 2
        assert capsys.readouterr().err == f"zenlake: {path}: {cause}\n"


@pytest.mark.parametrize("command", ["decode", "check", "why"])
def test_commands_for_single_captures_name_those_that_read_stores(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, at(ROUTER)]) == 2
    expected = f"{at(ROUTER)}: zenlake {command} reads captures of this machine: copy it, or use"
    assert expected in capsys.readouterr().err


def test_streams_follow_folders_of_this_machine() -> None:
    with pytest.raises(ZenlakeError, match=r"captures in a store are read by spark\.read"):
        open_folder(f"s3a://{BUCKET}/caps")
