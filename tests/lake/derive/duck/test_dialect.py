"""Statements in Spark's dialect have the same result on DuckDB."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.lake.derive.steps.cases import collected
from zenlake.lake.derive.duck import Engine
from zenlake.lake.derive.duck.dialect import translate
from zenlake.lake.schema.table import BIGINT, DOUBLE, STRING, Column, Table

TABLE = Table("rows", "", (Column("n", BIGINT, ""), Column("t", STRING, "")))


@pytest.fixture
def engine(tmp_path: Path) -> Any:
    with Engine(tmp_path) as opened:
        yield opened


def rows(engine: Engine, text: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in collected(engine.sql(text))]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("CAST(1.7D AS BIGINT)", 1),
        ("CAST(-1.7D AS BIGINT)", -1),
        ("try_add(9223372036854775807, CAST(1 AS BIGINT))", None),
        ("try_add(CAST(2 AS BIGINT), CAST(3 AS BIGINT))", 5),
        ("concat('a', NULL, 'b')", None),
        ("concat_ws('; ', 'a', NULL, 'b')", "a; b"),
        ("concat('it\\'s ', 3)", "it's 3"),
        ("if(NULL, 1, 2)", 2),
        ("greatest(NULL, 2)", 2),
        ("'a;_time=x' RLIKE '(^|;)_time(=|;|$)'", True),
        ("format_number(1234567, 0)", "1,234,567"),
        ("format_number(10000D, 1)", "10,000.0"),
        ("format_number(0.045D, 2)", "0.04"),
        ("regexp_replace('10,000.0', '[.]?0+$', '')", "10,000"),
        ("struct(1 AS a, 'x' AS b).b", "x"),
        ("(7 - 2) / 1e6D", 5e-06),
    ],
)
def test_expression_has_the_value_of_spark(
    engine: Engine, expression: str, expected: object
) -> None:
    assert rows(engine, f"SELECT {expression} AS x") == [(expected,)]


def test_last_ignores_nulls_if_requested(engine: Engine) -> None:
    text = """
    WITH t AS (SELECT * FROM VALUES (1, 'a'), (2, NULL), (3, 'b'), (4, NULL) AS t(n, x))
    SELECT n, last(x, true) OVER so_far AS y, last(x) OVER so_far AS z FROM t
    WINDOW so_far AS (ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
    """
    assert sorted(rows(engine, text)) == [
        *((1, "a", "a"), (2, "a", None), (3, "b", "b"), (4, "b", None))
    ]


def test_nested_structs_are_expanded(engine: Engine) -> None:
    held = "SELECT struct(struct(1 AS a, 2 AS b) AS load) AS first"
    assert rows(engine, f"WITH t AS ({held}) SELECT first.load.* FROM t") == [(1, 2)]


def test_frames_know_their_sources(engine: Engine) -> None:
    other = Table("others", "", (Column("n", BIGINT, ""), Column("d", DOUBLE, "")))
    one, two = engine.read(TABLE, []), engine.read(other, [])
    joined = engine.sql("SELECT a.n FROM {a} AS a JOIN {b} AS b ON a.n = b.n", a=one, b=two)
    assert one.select("n").filtered("n > 1").sources == {"rows"}
    assert engine.keep(joined.repartition("n").sortWithinPartitions("n")).sources == {
        *("rows", "others")
    }
    assert list(joined.batches()) == []


def test_rows_that_exceed_memory_are_spilled_to_disk(tmp_path: Path) -> None:
    from zenlake.limits import DERIVE_BYTES_MAX

    with Engine(tmp_path) as opened:
        row = opened.connection.execute("SELECT current_setting('memory_limit')").fetchone()
        assert row == (f"{DERIVE_BYTES_MAX / (1 << 20):.1f} MiB",)
        opened.connection.execute("SET memory_limit = '24MB'")
        many = opened.query("SELECT CAST(range AS VARCHAR) AS t FROM range(1000000)", ())
        texts = [batch["t"] for batch in many.sortWithinPartitions("t").batches()]
        assert sum(map(len, texts)) == 1_000_000
        assert texts[0][:3].to_pylist() == ["0", "1", "10"]
        assert any((tmp_path / "spill").iterdir())


@pytest.mark.parametrize(
    "text",
    [
        "printf('%08d--------%08d', id, id)",
        "printf('%08d%08d', id, id)",
        "printf('pppppppp%08dgggggggggggggggg%08dssssssssssssssssssssssss', id, id)",
        "printf('10.0.0.%d:50406-10.0.0.%d:17120#1', id, id)",
    ],
)
@pytest.mark.parametrize("column", ["key", "payload"])
def test_hash_tells_texts_with_the_same_number_at_two_places_apart(
    engine: Engine, column: str, text: str
) -> None:
    """DuckDB's own hash takes thousands of them for equal."""
    count = 20_000
    if column == "payload":
        text = f"CAST({text} AS BINARY)"
    found = rows(
        engine,
        f"""WITH numbers AS (SELECT explode(sequence(1, {count})) AS id),
            texts AS (SELECT {text} AS {column} FROM numbers)
            SELECT count(DISTINCT {column}), count(DISTINCT xxhash64({column})) FROM texts""",
    )
    assert found[0][0] == found[0][1] > count // 2


@pytest.mark.parametrize("form", ["<dd", ">dd", "<ff", ">ff", "<qq", ">qq", "<dqd", "<3d", "<8f"])
def test_hash_tells_payloads_with_numbers_that_change_together_apart(
    engine: Engine, form: str
) -> None:
    """As a pose whose coordinates grow by the same step: DuckDB's hash alone confuses many."""
    count = 20_000
    numbers = len(struct.unpack(form, bytes(struct.calcsize(form))))
    payloads = [struct.pack(form, *[number] * numbers) for number in range(count)]
    reader = pa.table({"payload": payloads}).to_reader()
    samples = engine.load(reader, ())
    found = engine.sql("SELECT count(DISTINCT xxhash64(payload)) AS n FROM {rows}", rows=samples)
    assert collected(found) == [{"n": count}]


def test_hash_of_a_column_of_unknown_type_is_refused() -> None:
    with pytest.raises(ValueError, match="name the type of column colour"):
        translate("SELECT xxhash64(capture, colour) FROM samples")
