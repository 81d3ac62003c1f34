"""Start-up time: avoids slow imports in commands that read small captures."""

from __future__ import annotations

import sys
from typing import Any


def keep_pandas_out() -> None:
    """Makes `import pandas` fail in this process, as if it were not installed.

    Arrow imports pandas with the first list that it converts to an array, to see whether it is a
    column of pandas. That takes longer than reading a small capture.
    """
    if not any(isinstance(finder, _NoPandas) for finder in sys.meta_path):
        sys.meta_path.insert(0, _NoPandas())


class _NoPandas:
    """An import finder that comes before all others and refuses pandas."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("pandas is not wanted in this process", name=name)
