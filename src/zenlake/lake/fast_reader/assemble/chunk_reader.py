"""The pass after a survey: batches of regular pairs, and packets of the others, in chunks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zenlake.lake.fast_reader.assemble.batches import FORWARDED
from zenlake.lake.fast_reader.assemble.capture_pass import CHUNK_BYTES, second_pass
from zenlake.lake.fast_reader.assemble.pairs import ASSEMBLE, FORWARD, REASON, ROLE, SKIP, Pairs
from zenlake.lake.fast_reader.assemble.units import Units
from zenlake.lake.fast_reader.scan.file_window import FileWindow, changed, open_window
from zenlake.lake.fast_reader.scan.packets import packets_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zenlake.capture.packet import Packet
    from zenlake.lake.fast_reader.regularity.survey import Survey


class Chunk(NamedTuple):
    """A stretch of a capture. Arrays of its units are reused by the chunk after the next one."""

    units: Units
    packets: list[Packet]
    """For the exact reader, in the order of the capture."""


def read(
    path: str,
    survey: Survey,
    wanted: NDArray[np.bool_],
    with_other: bool = False,
    chunk_bytes: int = CHUNK_BYTES,
    content: bytes | None = None,
) -> Iterator[Chunk]:
    """Reads the wanted pairs, and `with_other` the packets that belong to no pair.

    Batches are in the order in which packets completed them.
    """
    with open_window(path, content=content) as window:
        yield from _chunks(window, survey, wanted, with_other, chunk_bytes)


def _chunks(
    window: FileWindow,
    survey: Survey,
    wanted: NDArray[np.bool_],
    with_other: bool,
    chunk_bytes: int,
) -> Iterator[Chunk]:
    pairs = Pairs.from_keys(survey.keys)
    roles = np.where(survey.regular, ASSEMBLE, FORWARD)
    pairs.state[: len(survey), ROLE] = np.where(wanted, roles, SKIP)
    capture_pass = second_pass(window, survey, pairs, wanted, chunk_bytes, with_other)
    spare = capture_pass.new_batches()
    first_side = survey.first_side.astype(np.uint8)
    is_over = False
    while not is_over:
        capture_pass.begin_chunk()
        packets: list[Packet] = []
        while not is_over:
            is_over = not capture_pass.read_packets()
            if capture_pass.problem:
                raise changed(window.path, 0)
            rows = capture_pass.forwarded[: int(capture_pass.counters[FORWARDED])]
            more = packets_of(capture_pass.packets, rows, capture_pass.number, window.data)
            for packet in more if survey.packets_before else ():
                packet.number += survey.packets_before if packet.number > 0 else 0
            packets += more
            if capture_pass.is_chunk_over:
                break
        count, batches = capture_pass.units, capture_pass.batches
        if not count and not packets:
            continue
        bounds = np.zeros(count + 1, np.int64)
        bounds[1:] = batches.stop[:count]
        pair = batches.pair[:count]
        units = Units(
            batches.data[: int(bounds[-1])],
            bounds,
            batches.form[:count],
            pair,
            batches.side[:count] ^ first_side[pair],
            survey.recorded(batches.packet[:count]),
            batches.time_ns[:count],
        )
        yield Chunk(units, packets)
        # Two buffers are reused: the system takes longer to clear memory than kernels to fill it.
        capture_pass.batches, spare = spare, batches
    if capture_pass.packets_seen != len(survey.pair_of) or pairs.state[: len(survey), REASON].any():
        raise changed(window.path, 0)
