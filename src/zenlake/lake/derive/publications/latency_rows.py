"""The rows of `latencies`: rows of a file of `samples`, and the results for each.

Arrow copies the rows from the file without decoding its dictionaries.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from zenlake.lake.schema import TABLES
from zenlake.lake.schema.table import STRING

LATENCIES: Final = "latencies"
_ROW: Final = "row"


def latency_tables(source: Path, found: pa.Table) -> Iterator[pa.Table]:
    """A table for each row group of `source`; `found` has the other columns by `row`, in order."""
    declared = TABLES[LATENCIES].base.columns
    copied = [one for one in declared if one.name not in found.column_names]
    listed = [one.name for one in copied if one.type == STRING]
    rows = found.column(_ROW).to_numpy()
    with pq.ParquetFile(source, read_dictionary=listed) as file:
        begin = 0
        for group in range(file.num_row_groups):
            end = begin + file.metadata.row_group(group).num_rows
            first, last = np.searchsorted(rows, (begin, end)).tolist()
            if first < last:
                samples = file.read_row_group(group, [one.name for one in copied])
                chosen = samples.take(pa.array(rows[first:last] - begin))
                own = found.slice(first, last - first)
                columns = [(chosen if one in copied else own).column(one.name) for one in declared]
                yield pa.table(columns, names=[one.name for one in declared])
            begin = end
