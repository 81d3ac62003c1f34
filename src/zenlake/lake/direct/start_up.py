"""Start-up: what a command that reads small captures must not spend its time on."""

from __future__ import annotations

import sys
from typing import Any


def keep_pandas_out() -> None:
    """For a process of our own: pandas counts as not installed from now on.

    Arrow imports pandas, where it is installed, with the first list that it makes an array of: it
    might be a column of pandas. That takes longer than to read a small capture.
    """
    if not any(isinstance(finder, _NoPandas) for finder in sys.meta_path):
        sys.meta_path.insert(0, _NoPandas())


class _NoPandas:
    """Asked for every module before the finders that look for files."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("pandas is not wanted in this process", name=name)
