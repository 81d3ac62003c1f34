"""Batches of a capture that grows: appended, with pending rows that the next batch replaces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.lake.publish.small_lake import add, capture_row, publish, remove, written
from zenlake.lake.errors import LakeError
from zenlake.lake.publish import Run, Store, publisher
from zenlake.lake.publish.appender import Appended, Batch

GROWING = "/robots/recording"


def rows(*seqs: int, capture: str = GROWING) -> dict[str, list[dict[str, Any]]]:
    return {"messages": [{"capture": capture, "seq": seq, "time_ns": seq} for seq in seqs]}


def append(run: Run, number: int, last: Appended | None = None, **changes: Any) -> Appended:
    """A batch with the row `number` for good, and the pending row `100 + number`."""
    folder = Path(run.staging.path)
    return run.append(
        Batch(
            row=capture_row(GROWING, messages=number + 1),
            mark={"batch": number, "packets": 10 * number},
            files=written(folder, rows(number)),
            pending=written(folder, rows(100 + number)),
            removed={} if last is None else last.pending,
            **changes,
        )
    )


def seqs(store: Store, capture: str = GROWING) -> list[int]:
    found = []
    for file in store.files("messages"):
        columns = pq.ParquetFile(file).read(["capture", "seq"]).to_pydict()
        pairs = zip(columns["capture"], columns["seq"], strict=True)
        found += [seq for name, seq in pairs if name == capture]
    return sorted(found)


def test_batch_keeps_rows_and_replaces_pending_ones(tmp_path: Path) -> None:
    store = Store(tmp_path)
    last = None
    with store.begin() as run:
        for number in range(1, 4):
            last = append(run, number, last)
            assert seqs(store) == [*range(1, number + 1), 100 + number]
            mark = store.followed(GROWING)
            assert mark == {"batch": number, "packets": 10 * number}
    assert last is not None
    assert last.version == 3
    assert store.manifest().captures[GROWING].rows["messages"] == 4


def test_reader_of_an_older_version_still_finds_its_files(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.begin() as run:
        last = append(run, 1)
        old = store.snapshot()
        append(run, 2, last)
        assert all(file.exists() for file in old.files("messages"))


def test_batch_out_of_order_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.begin() as run:
        with pytest.raises(LakeError, match="followed any further"):
            append(run, 2)
        last = append(run, 1)
        for number in (1, 3):
            with pytest.raises(LakeError, match="followed any further"):
                append(run, number, last)
        assert seqs(store) == [1, 101]
        append(run, 2, last)
    assert seqs(store) == [1, 2, 102]


def test_other_runs_keep_the_mark_and_the_rows(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.begin() as run:
        last = append(run, 1)
    publish(store, "other")
    with store.begin() as run:
        append(run, 2, last)
    remove(store, "other")
    mark = store.followed(GROWING)
    assert mark is not None
    assert mark["batch"] == 2
    assert seqs(store) == [1, 2, 102]
    assert seqs(store, "other") == []


@pytest.mark.parametrize("is_dropped", [False, True])
def test_replaced_or_dropped_capture_is_not_followed_any_more(
    tmp_path: Path, is_dropped: bool
) -> None:
    store = Store(tmp_path)
    with store.begin() as run:
        last = append(run, 1)
    with store.begin() as run:
        if is_dropped:
            run.publish(remove={GROWING})
        else:
            add(run, GROWING, edition=7)
    assert store.followed(GROWING) is None
    with store.begin() as run:
        with pytest.raises(LakeError, match="followed any further"):
            append(run, 2, last)
        append(run, 1)
    assert seqs(store) == [1, 101]


def test_compaction_leaves_pending_files_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    last = None
    with store.begin() as run:
        for number in range(1, 6):
            last = append(run, number, last)
    with store.begin() as run:
        run.compact()
    assert len(store.files("messages")) == 2
    assert seqs(store) == [1, 2, 3, 4, 5, 105]
    monkeypatch.setattr(publisher, "LAKE_SMALL_FILES_MAX", 1)
    with store.begin() as run:
        add(run, "other")
        last = append(run, 6, last)
    assert seqs(store) == [1, 2, 3, 4, 5, 6, 106]
    assert len(seqs(store, "other")) == 3


def test_joined_files_replace_those_whose_rows_they_have(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.begin() as run:
        first = append(run, 1)
        second = append(run, 2, first)
        names = [name for one in (first, second) for name, _ in one.names["messages"]]
        joined = written(Path(run.staging.path), rows(1, 2))
        third = append(run, 3, second, joined={"messages": names}, joined_files=joined)
        assert third.joined == {"messages"}
        assert seqs(store) == [1, 2, 3, 103]
        # These names are not there any more, as if another run had compacted them.
        again = written(Path(run.staging.path), rows(1, 2))
        fourth = append(run, 4, third, joined={"messages": names}, joined_files=again)
        assert fourth.joined == frozenset()
    assert seqs(store) == [1, 2, 3, 4, 104]


def test_rows_of_a_cleared_table_are_replaced(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.begin() as run:
        add(run, "other")
        last = append(run, 1)
        append(run, 2, last, cleared=frozenset({"messages"}))
    assert seqs(store) == [2, 102]
    assert len(seqs(store, "other")) == 3


def test_pending_file_that_another_program_removed_is_one_clear_error(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.begin() as run:
        last = append(run, 1)
        lost = {"messages": ["no-such-file.parquet"]}
        with pytest.raises(LakeError, match="another program has rewritten the table messages"):
            append(run, 2, Appended(1, {}, lost, frozenset()))
        append(run, 2, last)
    assert seqs(store) == [1, 2, 102]
