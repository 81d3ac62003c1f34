"""Rows that options select, compared with a direct search, without Spark."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.datasource import EqualTo, Filter

from tests.lake.source.reading import read
from tests.paths import CAPTURES
from zenlake.errors import KeyExprError, ZenlakeError
from zenlake.keyexpr import canonize, intersects
from zenlake.lake.schema import TABLES
from zenlake.lake.source import planning
from zenlake.lake.source.data_source import CaptureReader
from zenlake.lake.source.options import read_options

QUERIES = str(CAPTURES / "queries.pcapng.gz")


def has_key(wanted: str, row: dict[str, Any]) -> bool:
    return bool(row["key"]) and intersects(row["key"], wanted)


@pytest.fixture(scope="module")
def messages() -> pa.Table:
    return read(QUERIES)


def kept(found: pa.Table, wanted: Callable[[dict[str, Any]], bool]) -> list[int]:
    return [row["seq"] for row in found.to_pylist() if wanted(row)]


def test_time_range_selects_the_expected_rows(messages: pa.Table) -> None:
    times = sorted(messages["time_ns"].to_pylist())
    since, until = times[len(times) // 3], times[2 * len(times) // 3]
    found = read(QUERIES, since=str(since), until=str(until))
    assert found["seq"].to_pylist() == kept(messages, lambda row: since <= row["time_ns"] < until)
    assert 0 < found.num_rows < messages.num_rows


@pytest.mark.parametrize(
    ("table", "first", "last"),
    [("nodes", "first_ns", "last_ns"), ("adjacencies", "from_ns", "to_ns")],
)
def test_rows_that_overlap_the_time_range_are_kept(table: str, first: str, last: str) -> None:
    path = str(CAPTURES / "routers_ring.pcapng.gz")
    every = read(path, table).to_pylist()
    moment = sorted(row[first] for row in every)[len(every) // 2]
    expected = [row for row in every if row[last] is None or row[last] >= moment]
    assert len(read(path, table, since=str(moment)).to_pylist()) == len(expected)
    expected = [row for row in every if row[first] < moment]
    assert len(read(path, table, until=str(moment)).to_pylist()) == len(expected) < len(every)


def test_kind_and_key_select_the_expected_rows(messages: pa.Table) -> None:
    found = read(QUERIES, kind="request,DECLARE")["seq"].to_pylist()
    assert found == kept(messages, lambda row: row["kind"].startswith(("REQUEST", "DECLARE/")))
    keys = [key for key in messages["key"].unique().to_pylist() if key]
    for wanted in (keys[0], "**", f"{keys[0].partition('/')[0]}/**", "no/such/key"):
        found = read(QUERIES, key=wanted)["seq"].to_pylist()
        assert found == kept(messages, partial(has_key, wanted))


def test_reading_can_stop_early() -> None:
    """The reading thread ends when no more rows are needed."""
    options = read_options({"path": str(CAPTURES / "midstream.pcapng.gz")})
    reader = CaptureReader(options, TABLES["messages"].spark)
    [task] = reader.partitions()
    batches = reader.read(task)
    assert next(batches).num_rows > 0
    batches.close()  # type: ignore[attr-defined]  # a generator has it
    assert "zenlake-reader" not in [thread.name for thread in threading.enumerate()]


def test_a_bad_file_is_an_error_before_tasks_begin(tmp_path: Path) -> None:
    bad = tmp_path / "bad.pcap"
    bad.write_bytes(b"not a capture")
    with pytest.raises(ZenlakeError, match=r"bad.pcap: neither pcap nor pcapng"):
        read(str(bad))
    with pytest.raises(ZenlakeError, match=r"/nowhere.pcap: cannot be opened: No such file"):
        read("/nowhere.pcap")
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(ZenlakeError, match="none is named like"):
        read(str(empty))


@pytest.mark.parametrize("table", ["messages", "queries", "captures"])
def test_missing_and_corrupt_files_are_left_out_if_requested(table: str, tmp_path: Path) -> None:
    (tmp_path / "a.pcapng.gz").symlink_to(QUERIES)
    (tmp_path / "empty.pcap").touch()
    (tmp_path / "text.pcap").write_bytes(b"not a capture")
    (tmp_path / "gone.pcap").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ZenlakeError, match=r"empty.pcap: 0 bytes: .* ignoreCorruptFiles leaves"):
        read(str(tmp_path), table)
    whole = read(QUERIES, table).num_rows
    assert whole > 0
    assert read(str(tmp_path), table, ignoreCorruptFiles="true").num_rows == whole
    with pytest.raises(ZenlakeError, match=r"gone.pcap: cannot be opened: No such file"):
        read(str(tmp_path / "gone.pcap"), table, ignoreCorruptFiles="true")
    for missing in ("gone.pcap", "nowhere", "*.none"):
        assert read(str(tmp_path / missing), table, ignoreMissingFiles="true").num_rows == 0
    with pytest.raises(ZenlakeError, match=r"text.pcap: neither pcap nor pcapng"):
        read(str(tmp_path / "text.pcap"), table, ignoreMissingFiles="true")


@pytest.mark.parametrize("table", ["messages", "queries"])
def test_files_changed_after_planning_are_errors_or_left_out(table: str, tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng.gz"

    def rows_after(change: Callable[[], object], **options: str) -> int:
        shutil.copy(QUERIES, path)
        given = {"path": str(path), "table": table, **options}
        reader = CaptureReader(read_options(given), TABLES[table].spark)
        [task] = reader.partitions()
        change()
        return sum(batch.num_rows for batch in reader.read(task))

    def spoil() -> None:
        path.write_bytes(b"not a capture")

    with pytest.raises(ZenlakeError, match=r"a.pcapng.gz: existed when the query was planned"):
        rows_after(path.unlink)
    with pytest.raises(ZenlakeError, match=r"a.pcapng.gz: neither pcap nor pcapng"):
        rows_after(spoil)
    assert rows_after(path.unlink, ignoreMissingFiles="true") == 0
    assert rows_after(spoil, ignoreCorruptFiles="true") == 0
    assert rows_after(lambda: None) > 0


def test_file_without_permission_is_not_corrupt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.pcap"
    path.touch()

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(planning, "open", refuse, raising=False)
    with pytest.raises(ZenlakeError, match=r"a.pcap: cannot be opened: Permission denied"):
        read(str(path), ignoreCorruptFiles="true", ignoreMissingFiles="true")


def test_a_damaged_file_is_read_as_far_as_possible(tmp_path: Path, messages: pa.Table) -> None:
    path = CAPTURES / "pubsub_router.pcapng"
    whole = read(str(path)).num_rows
    cut = tmp_path / "cut.pcapng"
    cut.write_bytes(path.read_bytes()[:-10_001])
    assert 0 < read(str(cut)).num_rows < whole
    assert read(str(cut), "captures")["error"].to_pylist() == ["damaged, read as far as possible"]


_PARTS = ("'", '"', "\\", ";", "--", "%", "_", ")", "' OR '1'='1", "') OR TRUE --", "\\'")
_WORDS = (
    "",
    "a",
    "demo",
    "x' UNION SELECT * FROM messages --",
    "1; COPY t TO '/tmp/x'",
    "{events}",
)
_WRAPS = ("{}", "a/{}", "{}/**", "**/{}", "test/{}/x", "*/{}", "{}{}", "${{{}}}")
PAYLOADS = [wrap.format(w + p, p) for wrap in _WRAPS for w in _WORDS for p in _PARTS]


def test_injections_are_searched_for_literally(tmp_path: Path) -> None:
    """S01: key expressions may contain quotes and semicolons; an invalid key is an error."""
    from zenlake.lake.source.conditions import chosen
    from zenlake.lake.source.pushdown import mask

    assert len(PAYLOADS) >= 500
    keys = [*PAYLOADS[::3], "a", "a/b", "demo/x", None]
    held = pa.table({"key": pa.array(keys, pa.string())})
    searched = 0
    for payload in PAYLOADS:
        for name in ("table", "kind", "since", "partitions"):
            with pytest.raises(ZenlakeError):
                read_options({"path": "a", name: payload})
        equal = mask(held, _equal(payload)).to_pylist()
        assert equal == [None if key is None else key == payload for key in keys]
        try:
            options = read_options({"path": "a", "key": payload})
        except KeyExprError:
            continue
        searched += 1
        found = chosen(held, options)["key"].to_pylist()
        assert found == [key for key in keys if _touches(payload, key)]
    assert searched > 200


def _equal(value: str) -> Filter:
    return EqualTo(("key",), value)


def _touches(payload: str, key: str | None) -> bool:
    if key is None:
        return False
    try:
        return canonize(key) == key and intersects(canonize(payload), key)
    except KeyExprError:
        return False
