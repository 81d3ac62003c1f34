"""Settings of the Delta tables of a lake."""

from __future__ import annotations

from typing import Final

from zenlake.limits import LAKE_RETENTION_HOURS_MAX

TABLE_SETTINGS: Final = {
    # Other writers keep statistics of so many columns, with which readers skip files.
    "delta.dataSkippingNumIndexedCols": "40",
    "delta.deletedFileRetentionDuration": f"interval {LAKE_RETENTION_HOURS_MAX} hours",
    "delta.logRetentionDuration": f"interval {LAKE_RETENTION_HOURS_MAX} hours",
    "delta.checkpointInterval": "20",
}
