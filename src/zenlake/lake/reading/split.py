"""A split: the part of a capture that one task reads, on both roads at once."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from zenlake import trace
from zenlake.capture.packet import Packet
from zenlake.lake.reading import scalar
from zenlake.trace.trace import Trace, of_packets

if TYPE_CHECKING:
    from zenlake.lake import bulk

Tables = dict[str, list[pa.Table]]
Write = Callable[[Tables], None]

CHUNK_BYTES: Final = 16 << 20
"""Read at once on the columnar road, of what is wanted."""
_STRETCH_BYTES_MAX: Final = 64 << 20
"""Of the file, in which that is looked for: it may all be wanted."""


class Split(NamedTuple):
    """All of a file, or of a surveyed one the pairs that are wanted."""

    path: str
    capture: str
    survey: bulk.Survey | None = None
    wanted: NDArray[np.bool_] | None = None
    with_other: bool = True
    """Whether packets that are no TCP belong to it."""
    only: frozenset[str] | None = None
    """Tables to make; None for all."""


def read_split(split: Split, write: Write, chunk_bytes: int = CHUNK_BYTES) -> Trace:
    """Gives tables to `write` as they come; the trace tells what else was found."""
    survey = split.survey
    if survey is None:
        found = trace.open(split.path)
    else:
        packets = _packets(split, survey, write, chunk_bytes)
        found = of_packets(packets, (survey.packets, survey.last_ns))
    with found:
        for parts in scalar.tables(found, split.capture, split.only):
            write({name: [table] for name, table in parts.items()})
    return found


def _read_again(
    split: Split, survey: bulk.Survey, doubted: NDArray[np.bool_], write: Write
) -> None:
    """Pairs that may have broken rules: message by message, for the rules alone."""
    from zenlake.lake import bulk

    chunks = bulk.read(split.path, survey.doubting(doubted), doubted, False)
    packets = (packet for chunk in chunks for packet in chunk.packets)
    with of_packets(packets, (survey.packets, survey.last_ns)) as found:
        for parts in scalar.findings(found, split.capture):
            write({name: [table] for name, table in parts.items()})


def _packets(
    split: Split, survey: bulk.Survey, write: Write, chunk_bytes: int
) -> Generator[Packet, None, None]:
    """What the scalar road reads; while it asks, the columnar one goes along."""
    # Loads the kernels, which small captures do without.
    from zenlake.lake import bulk
    from zenlake.lake.reading.columns.road import ColumnsRoad
    from zenlake.lake.reading.columns.units import Units

    wanted = np.ones(len(survey), np.bool_) if split.wanted is None else split.wanted
    road = ColumnsRoad(split.capture, survey, wanted, split.only)
    stretch_bytes = _stretch_bytes(survey, wanted, chunk_bytes)
    for chunk in bulk.read(split.path, survey, wanted, split.with_other, stretch_bytes):
        if len(chunk):
            places = (chunk.pair, chunk.direction, chunk.packet, chunk.time_ns)
            write(road.feed(Units(chunk.data, chunk.bounds, chunk.form, *places)))
        yield from chunk.packets
    write(road.end())
    doubted = road.doubted
    if doubted is not None and doubted.any():
        _read_again(split, survey, doubted, write)


def _stretch_bytes(survey: bulk.Survey, wanted: NDArray[np.bool_], chunk_bytes: int) -> int:
    """How much of the file holds a chunk of what is wanted, more or less."""
    found = int(survey.pair_bytes[wanted].sum())
    share = max(found / max(survey.size_bytes, 1), chunk_bytes / _STRETCH_BYTES_MAX)
    return int(chunk_bytes / min(share, 1.0))
