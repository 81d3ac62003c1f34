"""Surveys of captures; one in a store is copied to this machine first, which reads all of it."""

from __future__ import annotations

from pathlib import Path

from zenlake.lake.address import is_stored, parse
from zenlake.lake.errors import LakeError
from zenlake.lake.jobs import Job, Result
from zenlake.lake.plan.survey_task import survey_capture
from zenlake.lake.stored_files import fetch


def survey(job: Job) -> Result:
    """Like `survey_capture`; copies a capture in a store to the folder `copies`."""
    path = job["path"]
    if is_stored(path):
        try:
            path = str(fetch(parse(path), Path(job["copies"])))
        except LakeError as error:
            return {"path": path, "error": f"{path}: cannot be opened: {error.cause}"}
    return survey_capture({**job, "path": path})
