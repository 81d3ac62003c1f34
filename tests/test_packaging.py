"""The installed package: its version, the time to import it, its names."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata, resources
from pathlib import Path

import pytest

import zenlake
from tests.paths import ROOT
from zenlake._compiled import is_compiled


def run(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


@pytest.mark.skipif("ZENLAKE_EXPECT" not in os.environ, reason="set by make")
def test_package_is_compiled_or_plain_as_make_requested() -> None:
    assert is_compiled() == (os.environ["ZENLAKE_EXPECT"] == "compiled")


def test_compiled_install_does_not_run_the_sources() -> None:
    assert Path(zenlake.__file__).is_relative_to(ROOT / "src") != is_compiled()


def test_version_is_the_same_everywhere() -> None:
    assert metadata.version("zenlake") == zenlake.__version__
    assert f"\n## {zenlake.__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_types_are_shipped() -> None:
    assert (resources.files("zenlake") / "py.typed").is_file()


def test_data_is_shipped() -> None:
    """Data files are in the installed package and match the patterns of the build."""
    for name in ("cli/demo_data/robot.pcapng", "report/assets/page.html"):
        assert (resources.files("zenlake") / name).is_file()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]["zenlake"]
    source = ROOT / "src" / "zenlake"
    packed = {path for pattern in patterns for path in source.glob(pattern)}
    others = {path for path in source.rglob("*") if path.is_file() and path.suffix != ".py"}
    assert packed == {path for path in others if path.parent.name != "__pycache__"}


def test_every_exported_name_exists() -> None:
    assert set(zenlake.__all__) <= set(dir(zenlake))
    for name in zenlake.__all__:
        assert getattr(zenlake, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = zenlake.no_such_name  # type: ignore[attr-defined]  # wrong on purpose


def test_import_is_fast_and_loads_no_submodule() -> None:
    probe = (
        "import sys, time; start = time.perf_counter(); import zenlake;"
        "print(time.perf_counter() - start, *(m for m in sys.modules if m[:8] == 'zenlake.'))"
    )
    seconds = []
    for _ in range(3):
        spent, *loaded = run(sys.executable, "-c", probe).split()
        assert loaded == ["zenlake.errors"]
        seconds.append(float(spent))
    # A few milliseconds; the best of three and the wide margin are for busy machines.
    assert min(seconds) < 0.3


def left_out_on_plain_python(name: str) -> list[str]:
    """The paths that `make test` does not run on plain Python."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    return " ".join(re.findall(rf"^{name} [:+]= (.*)$", makefile, re.MULTILINE)).split()


def test_packages_that_are_tested_once_are_never_compiled() -> None:
    setup = (ROOT / "setup.py").read_text("utf-8")
    names = left_out_on_plain_python("ONLY_PLAIN")
    assert names
    for name in names:
        assert f"src/zenlake/{name}/" not in setup


def test_paths_that_are_tested_once_exist() -> None:
    names = left_out_on_plain_python("ONLY_PLAIN") + left_out_on_plain_python("LONG")
    assert len(names) > 15
    assert [name for name in names if not (ROOT / "tests" / name).exists()] == []


@pytest.mark.skipif(os.name != "posix", reason="a script of the shell")
def test_bootstrap_announces_what_it_installs(tmp_path: Path) -> None:
    """The announcement comes before apt-get is called, which fails in this test."""
    for name, code in (("id", "echo 0"), ("apt-get", "exit 1"), ("java", "exit 1")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{code}\n")
        (tmp_path / name).chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHON": sys.executable}
    command = ["sh", str(ROOT / "scripts" / "bootstrap.sh"), "java"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout == (
        "zenlake: Spark needs Java 17 or later; installing with apt-get: default-jre-headless\n"
    )
    assert done.stderr == "zenlake: apt-get install default-jre-headless failed\n"


def test_untracked_objects_may_be_freed_deep_inside_others() -> None:
    """Python must not defer the deletion of an untracked object, such as a chain of samples."""
    code = """
import gc
from zenlake import ZBytes
from zenlake.keyexpr.tree import KeyTree
from zenlake.wire import ZenohId
for _ in range(200):
    chain = None
    for number in range(400):
        chain = (ZBytes(b"%d" % number), chain)
    beside = [ZenohId(bytes([number + 1])) for number in range(100)]
    del chain
    assert [str(zid) for zid in beside] == [f"{number + 1:x}" for number in range(100)]
for chunk in ("a", "*", "a$*"):
    tree = KeyTree()
    for depth in range(1, 1000):
        tree.insert("/".join([chunk] * depth), ZenohId(b"\\1"))
    del tree
gc.collect()
"""
    subprocess.run([sys.executable, "-X", "faulthandler", "-c", code], check=True)
