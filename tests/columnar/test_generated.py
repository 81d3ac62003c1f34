"""The kernels are up to date, and plain ones have the same results as compiled ones."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.child_process import child_environment
from tests.paths import ROOT
from zenlake.columnar.fields import columns, fields, presence_bits
from zenlake.columnar.generate.__main__ import TARGET
from zenlake.columnar.generate.module import module_source
from zenlake.generated_files import is_fresh


def test_generated_kernels_are_up_to_date() -> None:
    assert is_fresh(TARGET, module_source()), "run `make generate`"


def test_every_name_is_bound_once() -> None:
    """Two constants of one name would cause a write to a wrong column."""
    tree = ast.parse(module_source())
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    for node in tree.body:
        if isinstance(node, ast.AnnAssign):
            names.append(ast.unparse(node.target))
        elif isinstance(node, ast.ImportFrom):
            names += [alias.name for alias in node.names]
    assert len(names) == len(set(names))
    assert TARGET.name == "kernels.py"


def test_columns_do_not_overlap() -> None:
    end = 0
    for begin, width in columns().values():
        assert begin == end
        end = begin + width
    bits = list(presence_bits().values())
    assert len(set(bits)) == len(bits)
    assert all(name in columns() for field in fields().values() for _, name in field.columns)


@pytest.mark.parametrize("how", ["switched off", "not installed"])
def test_without_numba(how: str, tmp_path: Path) -> None:
    """Python then checks every access, so this also tests that kernels stay within bounds."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    if how == "switched off":
        environment["NUMBA_DISABLE_JIT"] = "1"
    else:
        (tmp_path / "numba.py").write_text("raise ImportError")
    code = (
        "from zenlake.columnar.jit import IS_COMPILED; assert not IS_COMPILED;"
        "from tests.columnar.comparison import compare;"
        "from tests.columnar.inputs import drawn_inputs, mutated, vector_inputs;"
        "seeds = vector_inputs() + drawn_inputs(100);"
        "compare(seeds); compare(list(mutated(seeds, 1_000, 2)))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, cwd=ROOT)


def test_names_load_nothing_heavy() -> None:
    code = (
        "import sys, zenlake.columnar; zenlake.columnar.fields();"
        "sys.exit(any(name in sys.modules for name in ('numba', 'numpy', 'pyarrow')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, env=child_environment())
