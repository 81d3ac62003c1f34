"""Publications that are found in parts are those that are found together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyarrow.parquet as pq
import pytest

from tests.chance import IS_FULL
from zenlake.lake.derive import derive_task
from zenlake.lake.derive.duck import Engine, Frame, build_tables
from zenlake.lake.derive.duck.build import PUBLICATIONS
from zenlake.lake.derive.publication_parts import PublicationParts
from zenlake.lake.derive.steps import latencies
from zenlake.lake.jobs import Job
from zenlake.lake.pipeline import run as run_pipeline
from zenlake.lake.publish import Store
from zenlake.lake.schema import TABLES
from zenlake.limits import DERIVE_BYTES_MAX

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CAPTURES = Path(__file__).parents[2] / "data" / "captures"
NAMES = ("pubsub_router.pcapng", "routers_ring.pcapng.gz", "qos_matrix.pcap", "queries.pcapng.gz")
SEQ_MAX = 1 << 40

pytestmark = pytest.mark.xdist_group("spark")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> list[str]:
    """Files of `samples`, of several captures."""
    lake = tmp_path_factory.mktemp("publications") / "lake"
    run_pipeline([str(CAPTURES / name) for name in NAMES], lake, spark)
    return [str(file) for file in Store(lake).files("samples")]


@pytest.mark.parametrize("rows_max", [1_000_000, 300, *([40, 1] if IS_FULL else [])])
def test_parts_give_the_same_rows(tmp_path: Path, files: list[str], rows_max: int) -> None:
    with Engine(tmp_path) as engine:
        samples = engine.read(TABLES["samples"], files)
        rows = number(engine, f"SELECT count(*) FROM {samples.name}")
        assert rows > 500
        contents = latencies.contents_of_captures(cast(Any, samples))
        measured: Any = latencies.measure(contents, lambda name, frame: frame)
        whole = engine.keep(cast(Frame, measured))
        parts = PublicationParts(engine, samples, rows, rows_max, tmp_path / "parts")
        every = parts.between(0, SEQ_MAX)
        assert every is not None
        assert_same(engine, [every], whole)


@pytest.mark.parametrize("rows_max", [1_000_000, 40])
def test_written_latencies_and_trace_ids_are_those_of_the_steps(
    tmp_path: Path, files: list[str], rows_max: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The task takes them from the files of samples, by the numbers of their rows."""
    monkeypatch.setattr(derive_task, "ROW_BYTES", DERIVE_BYTES_MAX // rows_max)
    captures = tmp_path / "captures.parquet"
    pq.write_table(TABLES["captures"].arrow.empty_table(), captures)
    job: Job = {"tasks": [{"samples": [file]} for file in files], "captures_file": str(captures)}
    job |= {"folder": str(tmp_path), "tables": ["latencies", "samples"]}
    result = derive_task.derive_captures(job)
    written = [one["path"] for one in result["files"] if one["table"] == "latencies"]
    copied = [result["copies"].get(file, file) for file in files]
    with Engine(tmp_path) as engine:
        tables = build_tables(engine, job["tasks"], [str(captures)], builds=[PUBLICATIONS])
        assert_same(engine, [engine.read(TABLES["latencies"], written)], tables["latencies"][0])
        traced, found = tables["samples"], engine.read(TABLES["samples"], copied)
        names = " UNION ".join(f"SELECT capture FROM {frame.name}" for frame in traced)
        rows = found.filtered(f"capture IN ({names})")
        assert number(engine, f"SELECT count(*) FROM {rows.name}") > 100
        assert_same(engine, traced, engine.keep(rows))


def test_rows_in_bounds_are_found(tmp_path: Path, files: list[str]) -> None:
    with Engine(tmp_path) as engine:
        samples = engine.read(TABLES["samples"], files)
        parts = PublicationParts(engine, samples, 1_000, 100, tmp_path / "parts")
        every = parts.between(0, SEQ_MAX)
        assert every is not None
        for low, high in ((0, 0), (100, 101), (50, 700)):
            some = parts.between(low, high)
            chosen = every.filtered(f"seq BETWEEN {low} AND {high}")
            assert_same(engine, [] if some is None else [some], chosen)


def assert_same(engine: Engine, found: list[Frame], expected: Frame) -> None:
    texts = [f"(FROM {frame.name})" for frame in found] or [f"(FROM {expected.name} LIMIT 0)"]
    together = " UNION ALL ".join(texts)
    for one, other in ((together, f"FROM {expected.name}"), (f"FROM {expected.name}", together)):
        assert number(engine, f"SELECT count(*) FROM (({one}) EXCEPT ALL ({other}))") == 0


def number(engine: Engine, text: str) -> int:
    [(found,)] = engine.connection.execute(text).fetchall()
    return int(found)
