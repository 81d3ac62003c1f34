"""Rows of a part of a recording that is in memory, after the state at its start."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from zenlake.capture.input import Input
from zenlake.capture.packet import Skipped
from zenlake.capture.segment_reader import SegmentReader
from zenlake.lake.exact_reader.exact_tables import ExactReader
from zenlake.lake.merge.split import Split, Write, read_split
from zenlake.trace.trace import from_packets

FAST_BYTES_MIN: Final = 1 << 20
"""Below this size the exact reader is faster: loading kernels for the first time takes longer."""


def read_segment_bytes(capture: str, data: bytes, only: Collection[str], write: Write) -> int:
    """Calls `write` with tables of a segment, or of its beginning; a torn last block is left out.

    Rows of messages, samples and batches are those of packets, without the state; rows of events
    have the state as well, with packet numbers up to 0. Returns the time of the last packet.
    """
    if len(data) >= FAST_BYTES_MIN:
        from zenlake.lake import fast_reader

        survey = fast_reader.survey(capture, content=data)
        if not isinstance(survey, fast_reader.Refusal) and survey.may_be_regular.any():
            split = Split(capture, capture, survey, None, True, frozenset(only), data)
            read_split(split, write)
            return int(survey.last_ns)
    return _read_exactly(capture, data, only, write)


def _read_exactly(capture: str, data: bytes, only: Collection[str], write: Write) -> int:
    damage = Skipped()
    found = from_packets(damage=damage)
    exact = ExactReader(found, capture, only)
    input = Input(capture, damage, content=data)
    for packet in SegmentReader(input, damage, is_growing=True).packets():
        exact.write_steps(found.feed(packet), write)
    exact.write_steps(found.finish(), write)
    write(exact.finish())
    return found.last_ns or 0
