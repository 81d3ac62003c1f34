"""Compares a lake that followed a recording with one run of the pipeline over the same packets."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.capture.recorded import write_capture
from tests.lake import comparison
from zenlake.capture.packet import Packet
from zenlake.lake.pipeline import run as run_pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OF_THE_FILE: Final = (*comparison.READ, "sha256", "bytes", "address")
"""Columns of `captures` that depend on the file, and not on its packets."""


def batch_lake(folder: Path, packets: Sequence[Packet], spark: SparkSession) -> Path:
    """A new lake with these packets, read from one file."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    capture = write_capture(folder / "capture.pcapng", packets)
    run_pipeline([str(capture)], folder / "lake", spark)
    return folder / "lake"


def differences(one: Path, other: Path) -> dict[str, tuple[int, int]]:
    """The same packets in a recording and in a file have the same rows."""
    return comparison.differences(one, other, _OF_THE_FILE, with_names=False)


rows = comparison.counts
