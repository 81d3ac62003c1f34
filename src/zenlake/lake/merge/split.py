"""Split: the part of a capture that one task reads, with both readers in one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zenlake import trace
from zenlake.capture.segment_reader import DROPPED, REMOVED
from zenlake.lake.exact_reader.exact_tables import ExactReader, Tables, Write
from zenlake.lake.exact_reader.violations import TABLE as VIOLATIONS
from zenlake.trace.trace import Trace, from_packets

if TYPE_CHECKING:
    from zenlake.lake import fast_reader

__all__ = ["CHUNK_BYTES", "Split", "Tables", "Write", "read_split"]

CHUNK_BYTES: Final = 32 << 20
"""Bytes of wanted pairs in one chunk of the fast reader."""
_STRETCH_BYTES_MAX: Final = 64 << 20
"""Bytes of the file in one chunk: all of them may belong to wanted pairs."""


class Split(NamedTuple):
    """A whole file, or the wanted pairs of a surveyed one."""

    path: str
    capture: str
    survey: fast_reader.Survey | None = None
    wanted: NDArray[np.bool_] | None = None
    with_other: bool = True
    """Whether packets that are not TCP belong to it."""
    only: frozenset[str] | None = None
    """Tables to make; None for all."""
    content: bytes | None = None
    """The bytes of a capture in memory, which has been surveyed."""


def read_split(split: Split, write: Write, chunk_bytes: int = CHUNK_BYTES) -> Trace:
    """Calls `write` with tables as they are made; the trace has facts about the packets."""
    if split.survey is not None:
        return _read_surveyed(split, split.survey, write, chunk_bytes)
    with trace.open(split.path) as opened:
        exact = ExactReader(opened, split.capture, split.only)
        exact.write_steps(opened.steps(), write)
        write(exact.finish())
    return opened


def _read_surveyed(
    split: Split, survey: fast_reader.Survey, write: Write, chunk_bytes: int
) -> Trace:
    """Reads regular connections in columns; the exact reader reads the packets of all others."""
    # Imported here, because kernels take time to load and small captures do not need them.
    from zenlake.lake import fast_reader
    from zenlake.lake.fast_reader.columns.columnar_reader import ColumnarReader

    wanted = np.ones(len(survey), np.bool_) if split.wanted is None else split.wanted
    columnar = ColumnarReader(split.capture, survey, wanted, split.only)
    found = _trace_of(survey)
    if survey.dropped and split.with_other:
        found.skipped.add(DROPPED, 0, survey.dropped)
    if survey.redacted and split.with_other:
        found.skipped.add(REMOVED, 0, survey.redacted)
    exact = ExactReader(found, split.capture, split.only)
    stretch_bytes = _stretch_bytes(survey, wanted, chunk_bytes)
    place = split.with_other, stretch_bytes, split.content
    for chunk in fast_reader.read(split.path, survey, wanted, *place):
        if chunk.units:
            write(columnar.feed(chunk.units))
        for packet in chunk.packets:
            exact.write_steps(found.feed(packet), write)
    write(columnar.finish())
    doubted = columnar.doubted
    if doubted is not None and doubted.any():
        _read_again(split, survey, doubted, write)
    exact.write_steps(found.finish(), write)
    write(exact.finish())
    return found


def _read_again(
    split: Split, survey: fast_reader.Survey, doubted: NDArray[np.bool_], write: Write
) -> None:
    """Reads pairs that may have broken rules with the exact reader, for the rules alone."""
    from zenlake.lake import fast_reader

    found = _trace_of(survey)
    exact = ExactReader(found, split.capture, (VIOLATIONS,))
    doubting = survey.doubting(doubted)
    for chunk in fast_reader.read(split.path, doubting, doubted, content=split.content):
        for packet in chunk.packets:
            exact.write_steps(found.feed(packet), write)
    exact.write_steps(found.finish(), write)
    write(exact.finish())


def _trace_of(survey: fast_reader.Survey) -> Trace:
    end = survey.last_number, survey.last_ns
    return from_packets(end, is_redacted=survey.redacted > 0)


def _stretch_bytes(survey: fast_reader.Survey, wanted: NDArray[np.bool_], chunk_bytes: int) -> int:
    """About how many bytes of the file have a chunk of the wanted pairs."""
    found = int(survey.pair_bytes[wanted].sum())
    share = max(found / max(survey.size_bytes, 1), chunk_bytes / _STRETCH_BYTES_MAX)
    return int(chunk_bytes / min(share, 1.0))
