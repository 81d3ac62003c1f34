"""The shipped translations are those of the current steps."""

from __future__ import annotations

import subprocess
import sys

from zenlake.lake.derive.duck import generate, statements
from zenlake.lake.derive.duck._generated.statements import STATEMENTS


def test_translations_are_up_to_date() -> None:
    assert generate.TARGET.read_text("utf-8") == generate.module_source()


def test_unknown_statement_is_translated_at_run_time() -> None:
    text = "SELECT CAST(1.7D AS BIGINT) AS a_statement_of_no_step"
    assert statements.digest(text) not in STATEMENTS
    assert "TRUNC" in statements.to_duckdb(text).upper()


def test_tables_are_derived_without_spark_and_sqlglot() -> None:
    program = """
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.modules.update(dict.fromkeys(("pyspark", "py4j", "sqlglot")))
from zenlake.lake.derive.duck import Engine, build_tables

with TemporaryDirectory() as folder, Engine(Path(folder)) as engine:
    print(*build_tables(engine, [], []))
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert {b"queries", b"replies", b"declarations"} <= set(done.stdout.split())
