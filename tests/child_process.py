"""Processes that tests start."""

from __future__ import annotations

import os
import sys


def child_environment(**variables: str) -> dict[str, str]:
    """The environment of a child that can import what this process can, with more variables."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **variables}
