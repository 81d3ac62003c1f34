"""Working directory: where a relative path is meant from, if that is known at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Final

from zenlake.errors import LocalError
from zenlake.lake.source.inputs import local_path

_ARTIFACTS: Final = "SPARK_JOB_ARTIFACT_UUID"
"""Spark's id of a session that brings files of its own, as every session of Connect does."""
_OF_TABLE: Final = "Spark counts those of a table from its warehouse, which a source is not told"
_OF_SERVER: Final = "this Spark (Connect) plans in a folder of its own, not in that of the caller"


def check_paths(paths: Iterable[str], is_table: bool) -> None:
    """In a classic session a relative path is meant from where the session was started."""
    relative = [path for path in paths if not os.path.isabs(local_path(path))]
    if not relative:
        return
    if is_table:
        reason = _OF_TABLE
    elif is_folder_of_spark(os.getcwd(), os.environ):
        reason = _OF_SERVER
    else:
        return
    raise LocalError(f"{relative[0]!a} is a relative path, and {reason}: give an absolute path")


def is_folder_of_spark(folder: str, environment: Mapping[str, str]) -> bool:
    """Spark names the working directory that it makes for a session by the session's id."""
    return os.path.basename(folder) == environment.get(_ARTIFACTS)
