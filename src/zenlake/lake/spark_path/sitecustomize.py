"""Makes Spark's Python processes import the installed PySpark instead of the one in an archive.

Spark puts its archive `pyspark.zip` first on the path of each Python process: workers, and those
that list, plan and read data sources. Python caches no bytecode of modules in a zip file, so each
process would compile PySpark from source, which takes up to half a second. The installed package
has the same code.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import Final

_ARCHIVES: Final = re.compile(r"pyspark\.zip|py4j-[\d.]+-src\.zip|spark-core_[\w.-]+\.jar")


def without_archives(path: Sequence[str]) -> list[str]:
    """The path without Spark's archives, if PySpark and Py4J are installed beside them."""
    found = [one for one in path if not _ARCHIVES.fullmatch(os.path.basename(one))]
    is_installed = all(PathFinder.find_spec(name, found) for name in ("pyspark", "py4j"))
    return found if is_installed else list(path)


def import_hidden() -> None:
    """Imports the `sitecustomize` of the machine or the user, which this module hides."""
    found = PathFinder.find_spec("sitecustomize", sys.path)
    if found is None or found.loader is None:
        return
    module = sys.modules["sitecustomize"] = module_from_spec(found)
    found.loader.exec_module(module)


if __name__ == "sitecustomize":
    sys.path[:] = [one for one in sys.path if one != os.path.dirname(__file__)]
    sys.path[:] = without_archives(sys.path)
    import_hidden()
