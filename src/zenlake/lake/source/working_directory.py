"""Working directory: the folder that relative paths start from, if it is known."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final

from zenlake.errors import LocalError
from zenlake.lake.address import is_stored
from zenlake.lake.plan.inputs import local_path

_ARTIFACTS: Final = "SPARK_JOB_ARTIFACT_UUID"
"""The variable with Spark's id of a session that has its own files, as in Spark Connect."""
_OF_TABLE: Final = "paths of a table start from Spark's warehouse, which a source does not know"
_OF_SERVER: Final = "this Spark (Connect) plans in another folder than that of the caller"


def check_paths(paths: Iterable[str], is_table: bool) -> None:
    """Error for a relative path, unless it starts from the folder of a classic session."""
    relative = [
        path for path in paths if not is_stored(path) and not os.path.isabs(local_path(path))
    ]
    if not relative:
        return
    if is_table:
        reason = _OF_TABLE
    elif os.path.basename(os.getcwd()) == os.environ.get(_ARTIFACTS):
        reason = _OF_SERVER  # Spark made the folder for a session, whose id is its name
    else:
        return
    raise LocalError(f"{relative[0]!a} is a relative path, and {reason}: use an absolute path")
