"""The table `captures` of a lake: its rows in one version."""

from __future__ import annotations

from typing import Final

import pyarrow.parquet as pq

from zenlake.lake.address import Address
from zenlake.lake.errors import LakeError
from zenlake.lake.publish.delta_table import Table

CAPTURES: Final = "captures"


def read_captures(table: Table, lake: Address) -> list[dict[str, object]]:
    """The rows of a version of `captures`."""
    rows: list[dict[str, object]] = []
    for name in table.files():
        place = lake / CAPTURES / name
        try:
            rows += pq.read_table(place.fs_path, filesystem=place.filesystem).to_pylist()
        except (OSError, ValueError) as error:
            cause = " ".join(str(error).split())
            raise LakeError(f"cannot be read: {cause}", place) from None
    return rows
