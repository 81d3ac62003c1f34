"""Delivery: moves files of a task to a lake on this machine or in a store.

Where files can be renamed, they go to the staging folder of the run, and the driver moves them to
their tables when it publishes. An object store has no rename: there they are written directly to
the folders of their tables. No reader uses them before they are published.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from zenlake import exit_cleanups
from zenlake.lake.address import Address, parse
from zenlake.lake.file_lists import File
from zenlake.lake.jobs import Job
from zenlake.lake.schema import TABLES
from zenlake.lake.stored_files import fetch, put_file


@contextmanager
def scratch_folder(job: Job) -> Iterator[Path]:
    """A folder on the disk of this worker: in the lake if that is local, else in TMPDIR."""
    staging = parse(job["staging"])
    if staging.is_local:
        # The run removes the folder, even if this task fails.
        folder = Path(staging.path, f"task-{uuid4().hex}")
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        return
    with exit_cleanups.temporary_folder() as folder:
        yield folder


def deliver(job: Job, files: list[File]) -> list[File]:
    """Moves files to the lake; returns the list with their new addresses."""
    lake, staging = parse(job["lake"]), parse(job["staging"])
    if staging.is_local:
        return files
    return [{**file, "path": str(_put(file, lake, staging, job["run"]))} for file in files]


def _put(file: File, lake: Address, staging: Address, run: str) -> Address:
    name, table = os.path.basename(file["path"]), str(file["table"])
    if table in TABLES and not lake.renames_cheaply:
        target = lake / table / f"{run}-{name}"
    else:
        target = staging / table / name
    put_file(Path(file["path"]), target)
    return target


def fetched(files: list[File], folder: Path) -> list[File]:
    """Copies of files of other tasks, on the disk of this worker.

    There is a folder for each table, because a task uses the same file name in all tables.
    """
    return [
        {**file, "path": str(fetch(parse(file["path"]), folder / "fetched" / file["table"]))}
        for file in files
    ]
