"""The time at which a batch of a stream was planned, from Spark's checkpoint.

Before Spark runs a batch, it writes the batch's offsets and its time to `offsets/<batch id>` in the
checkpoint. After a crash of the driver it runs the batch again with the same id and time. It does
not pass this time to a writer, but the option `checkpointLocation` names the folder.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

_OFFSETS_BYTES_MAX: Final = 1 << 20


class BatchStart(NamedTuple):
    """A batch in the checkpoint, and the time at which it was planned."""

    batch: int
    time_ns: int


def latest_batch_start(checkpoint: str | None) -> BatchStart | None:
    """The newest batch; None if this process cannot read the folder of the checkpoint."""
    folder = None if checkpoint is None else _local_folder(checkpoint)
    if folder is None:
        return None
    try:
        batches = [int(name) for name in os.listdir(folder / "offsets") if name.isdecimal()]
        newest = max(batches)
        with open(folder / "offsets" / str(newest), encoding="utf-8") as file:
            # The first line is the version of the format, the second the metadata of the batch.
            lines = file.read(_OFFSETS_BYTES_MAX).split("\n")
        return BatchStart(newest, int(json.loads(lines[1])["batchTimestampMs"]) * 1_000_000)
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None


def _local_folder(address: str) -> Path | None:
    parts = urlsplit(address)
    if parts.scheme == "file" and not parts.netloc:
        return Path(unquote(parts.path))
    # A relative path is relative to Java's working directory, which this process shares.
    return None if "://" in address or parts.scheme else Path(address)
