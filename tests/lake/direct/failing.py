"""Functions that fail or hang in worker processes, which import them by name."""

from __future__ import annotations

import os
import time
from typing import Any

from zenlake.lake.errors import LakeError


def say_why(job: dict[str, Any]) -> dict[str, Any]:
    raise LakeError(job["why"])


def end_at_once(job: dict[str, Any]) -> dict[str, Any]:
    os._exit(3)


def wait_for_ever(job: dict[str, Any]) -> dict[str, Any]:
    """Prints the id of the process that waits."""
    print(os.getpid(), flush=True)
    time.sleep(600)  # hangs until it is killed
    return {}
