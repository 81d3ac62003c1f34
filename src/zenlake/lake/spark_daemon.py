"""The process that forks Spark's Python workers on this machine: Spark's own, made to start faster.

Spark puts its archive `pyspark.zip` first on the path of that process. Python caches no bytecode of
modules in a zip file, so each start would compile PySpark from source. Here the installed package
is imported instead, which is the same. Modules that start no thread are imported before workers are
forked, and excluded from the garbage collection that Spark runs after every task.
"""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Sequence
from importlib.machinery import PathFinder
from typing import Final

_ARCHIVES: Final = re.compile(r"pyspark\.zip|py4j-[\d.]+-src\.zip|spark-core_[\w.-]+\.jar")


def without_archives(path: Sequence[str]) -> list[str]:
    """The path without Spark's archives, if PySpark and Py4J are installed beside them."""
    found = [one for one in path if not _ARCHIVES.fullmatch(os.path.basename(one))]
    is_installed = all(PathFinder.find_spec(name, found) for name in ("pyspark", "py4j"))
    return found if is_installed else list(path)


def main() -> None:
    sys.path[:] = without_archives(sys.path)
    # NumPy and Arrow start threads, which do not survive a fork, so workers import them.
    import pyspark.worker  # noqa: F401  # for the workers
    from pyspark.daemon import manager

    gc.collect()
    gc.freeze()
    manager()


if __name__ == "__main__":
    main()
