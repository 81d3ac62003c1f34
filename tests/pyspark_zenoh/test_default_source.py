"""Spark imports every package `pyspark_*` to find formats: ours must import little."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.child_process import child_environment

pytest.importorskip("pyspark", reason="needs zenlake[lake]")

from pyspark_zenoh import DefaultSource
from zenlake.errors import LocalError

_PROBE = """import sys
import pyspark.sql.datasource
before = set(sys.modules)
import pyspark_zenoh
print(pyspark_zenoh.DefaultSource.name())
print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before}))
"""


def test_source_is_found_and_imports_little() -> None:
    found = subprocess.run(
        [sys.executable, "-c", _PROBE],
        env=child_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    name, loaded = found.stdout.splitlines()
    assert name == "zenoh"
    assert set(loaded.split()) == {"pyspark_zenoh", "zenlake"}


@pytest.mark.parametrize("keys", [{}, {"subscribe": "a/**"}])
def test_network_with_a_path_is_refused(keys: dict[str, str]) -> None:
    with pytest.raises(LocalError, match="connect is for a network: pass no path with it"):
        DefaultSource({"path": "recording", "connect": "tcp/a:1", **keys})
