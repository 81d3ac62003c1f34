"""Conditions: filters rows by the options, before Spark gets them."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from zenlake.lake.sql.functions import ke_intersects

if TYPE_CHECKING:
    from zenlake.lake.source.options import Options


def chosen(rows: pa.Table, options: Options) -> pa.Table:
    """Rows that match the options. A row with a duration matches if it overlaps the time range."""
    masks = []
    if options.since_ns is not None:
        ends = rows[options.times[1]]
        lasts = pc.is_null(ends) if options.times[0] != options.times[1] else pa.scalar(False)
        masks.append(pc.or_kleene(pc.greater_equal(ends, options.since_ns), lasts))
    if options.until_ns is not None:
        masks.append(pc.less(rows[options.times[0]], options.until_ns))
    if options.kinds is not None:
        masks.append(pc.is_in(rows["kind"], pa.array(sorted(options.kinds), pa.string())))
    if options.key is not None:
        masks.append(_intersects(rows["key"], options.key))
    return rows.filter(reduce(pc.and_kleene, masks)) if masks else rows


def _intersects(keys: pa.ChunkedArray, wanted: str) -> pa.ChunkedArray:
    """Whether each key intersects the wanted one; equal keys are compared once."""
    listed = keys if pa.types.is_dictionary(keys.type) else keys.dictionary_encode()
    parts = []
    for part in listed.chunks:
        answers = [ke_intersects(wanted, key) for key in part.dictionary.to_pylist()]
        parts.append(pa.array(answers, pa.bool_()).take(part.indices))
    return pa.chunked_array(parts, pa.bool_())
