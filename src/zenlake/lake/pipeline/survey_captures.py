"""The first task of a run: hashes and surveys of some captures.

Surveys are written to the staging folder of the run, where the reading tasks find them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from zenlake.errors import ZenlakeError
from zenlake.lake.address import parse
from zenlake.lake.errors import LakeError
from zenlake.lake.jobs import Job, Result
from zenlake.lake.pipeline.delivery import scratch_folder
from zenlake.lake.plan.capture_names import size_of
from zenlake.lake.plan.splits import split_file
from zenlake.lake.plan.survey_task import SMALL_BYTES, survey_capture
from zenlake.lake.stored_files import fetch, put_file

_SURVEY: Final = "survey.npz"


def survey_captures(job: Job) -> Result:
    """Surveys `captures`, each with `path` (as given), `address` and `number`, into `staging`."""
    return {"captures": [_surveyed(one, job["staging"]) for one in job["captures"]]}


def _surveyed(capture: Job, staging: str) -> Result:
    known = {name: capture[name] for name in ("path", "address", "number")}
    with scratch_folder({"staging": staging}) as folder:
        path = capture["address"]
        try:
            if size_of(path) < SMALL_BYTES:
                path = str(fetch(parse(path), folder / "capture"))
        except LakeError as error:
            return {**known, "error": str(error)}
        kept = folder / "survey"
        kept.mkdir()
        try:
            found = survey_capture(
                {"path": path, "survey": str(kept / _SURVEY), "tasks": capture["tasks"]}
            )
        except ZenlakeError as error:
            found = {"error": str(error)}
        if "error" in found:
            return {**known, "error": found["error"].replace(path, capture["path"])}
        place = parse(staging) / f"survey-{capture['number']}"
        for file in sorted(kept.iterdir()):
            put_file(file, place / file.name)
        return {**found, **known, "survey": str(place)}


def opened_capture(capture: Job, folder: Path) -> Job:
    """The job with local paths of its capture and survey."""
    if capture["split"] is None:
        return {**capture, "path": str(fetch(parse(capture["address"]), folder / "captures"))}
    # The fast reader reads only the ranges of the split from the store.
    found = {**capture, "path": capture["address"]}
    survey = parse(capture["survey"])
    if survey.is_local:
        return {**found, "survey": str(Path(survey.path, _SURVEY))}
    kept = folder / f"survey-{capture['number']}"
    fetch(survey / split_file(Path(_SURVEY), capture["split"]).name, kept)
    return {**found, "survey": str(kept / _SURVEY)}
