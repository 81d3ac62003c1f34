"""The classes that Spark calls, called in the same way, without Spark."""

from __future__ import annotations

import os
import pickle

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable
from pyspark.sql.types import StructType

from tests.paths import CAPTURES
from zenlake.errors import LocalError
from zenlake.lake.schema import TABLES
from zenlake.lake.source.catalog_table import kept_options, options_of_table
from zenlake.lake.source.data_source import ZenohSource
from zenlake.one_line_errors import one_line_errors

PATH = str(CAPTURES / "queries.pcapng.gz")
CREATED = {
    **{"provider": "zenoh", "owner": "root", "a": "b", "comment": "x"},
    **{"location": f"file:{PATH}", "path": f"file:{PATH}", "option.Table": "queries"},
    **{"table": "queries", "option.pathGlobFilter": "*.gz"},
}
"""The properties of a table that Spark 4.3 passes to a source when the table is created."""


def test_options_of_a_table_are_separated_from_its_other_properties() -> None:
    expected = {"table": "queries", "pathglobfilter": "*.gz", "path": f"file:{PATH}"}
    assert options_of_table(CREATED) == expected
    assert options_of_table({"path": PATH, "table": "queries"}) is None


def count(source: ZenohSource, schema: StructType) -> int:
    """Counts rows after both objects are serialised, as Spark does: the schema as JSON."""
    sent: ZenohSource = pickle.loads(pickle.dumps(source))
    reader = sent.reader(StructType.fromJson(schema.jsonValue()))
    return sum(b.num_rows for task in reader.partitions() for b in reader.read(task))  # type: ignore[union-attr]  # record batches


def test_query_of_a_table_finds_its_options_in_the_schema() -> None:
    schema = ZenohSource(CREATED).schema()
    assert schema.names == TABLES["queries"].names
    assert count(ZenohSource({}), schema) == 160
    assert count(ZenohSource({"Key": "db_nobody/**"}), schema) == 1


def test_schema_of_a_reader_has_no_options() -> None:
    schema = ZenohSource({"path": PATH, "table": "queries"}).schema()
    assert schema == TABLES["queries"].spark
    assert kept_options(schema) == {}


def test_path_overrides_the_table_of_the_schema() -> None:
    schema = ZenohSource({**CREATED, "option.key": "db_nobody/**"}).schema()
    assert count(ZenohSource({"path": PATH, "table": "queries"}), schema) == 160


def test_missing_path_is_an_error() -> None:
    with pytest.raises(LocalError, match=r"no path: pass one or several files or folders"):
        ZenohSource({}).schema()
    with pytest.raises(LocalError, match="created with a list of columns"):
        ZenohSource({}).reader(TABLES["messages"].spark)
    with pytest.raises(LocalError, match="no path"):
        ZenohSource({"provider": "zenoh", "owner": "root"})
    with pytest.raises(LocalError, match="there is no option 'tabel'"):
        ZenohSource({"tabel": "x"})


def test_errors_of_a_stream_are_raised_at_its_first_call() -> None:
    """Spark 4.3 hides errors of `streamReader` itself."""
    source = ZenohSource({"path": PATH, "since": "2026-01-01"})
    reader = source.streamReader(source.schema())
    with pytest.raises(LocalError, match="there is no option 'since'"):
        reader.initialOffset()
    with pytest.raises(LocalError, match="there is no option 'since'"):
        reader.latestOffset({}, ReadAllAvailable())
    file = ZenohSource({"path": PATH}).streamReader(source.schema())
    with pytest.raises(LocalError, match="is a file: a stream follows a folder"):
        file.initialOffset()


def test_options_of_streams_are_refused_by_other_readers() -> None:
    source = ZenohSource({"path": PATH, "startingOffsets": "latest"})
    with pytest.raises(LocalError, match="there is no option 'startingoffsets'"):
        source.reader(source.schema())
    with pytest.raises(LocalError, match="earliest, latest"):
        ZenohSource({"path": PATH, "startingOffsets": "x"})


def test_a_misspelled_option_of_a_stream_is_suggested() -> None:
    with pytest.raises(LocalError, match=r"'startingOffset' \(did you mean startingOffsets\?\)"):
        ZenohSource({"path": PATH, "startingOffset": "latest"})


def test_writing_is_refused() -> None:
    source = ZenohSource({"path": PATH})
    with pytest.raises(LocalError, match="reads captures and does not write"):
        source.writer(source.schema(), True)


def test_only_zenlake_errors_in_spark_processes_hide_the_stack(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("SPARK_PYTHON_RUNTIME", raising=False)
    monkeypatch.delenv("SPARK_HIDE_TRACEBACK", raising=False)

    def fail(error: Exception) -> str | None:
        with pytest.raises(type(error)), one_line_errors():
            raise error
        return os.environ.get("SPARK_HIDE_TRACEBACK")

    assert fail(LocalError("x")) is None
    monkeypatch.setenv("SPARK_PYTHON_RUNTIME", "PYTHON_WORKER")
    assert fail(ValueError("x")) is None
    monkeypatch.setenv("SPARK_HIDE_TRACEBACK", "")
    assert fail(LocalError("x")) == "1"
