"""Processes that tests start."""

from __future__ import annotations

import os
import sys


def child_environment(**variables: str) -> dict[str, str]:
    """The environment of a child process: the same import path, and the given variables."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **variables}
