"""Reader: the second pass, which gives batches of regular pairs and packets of the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from zenlake.lake.fast_reader.assemble.batches import HANDED
from zenlake.lake.fast_reader.assemble.pairs import ASSEMBLE, HAND_ON, PASS, REASON, ROLE, Pairs
from zenlake.lake.fast_reader.assemble.reading import CHUNK_BYTES, Known, Range, Reading
from zenlake.lake.fast_reader.scan.byte_source import open_bytes
from zenlake.lake.fast_reader.scan.capture_file import Refusal, scan_of
from zenlake.lake.fast_reader.scan.file_window import FileWindow, changed
from zenlake.lake.fast_reader.scan.packets import packets_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zenlake.capture.packet import Packet
    from zenlake.lake.plan.survey.survey import Survey


class Chunk:
    """A stretch of a capture. Batch `i` is `data[bounds[i]:bounds[i + 1]]`, without its length.

    Its arrays are good until the chunk after the next is asked for; who needs them longer copies.
    """

    __slots__ = ("bounds", "data", "direction", "form", "packet", "packets", "pair", "time_ns")

    def __init__(
        self,
        data: NDArray[np.uint8],
        bounds: NDArray[np.int64],
        form: NDArray[np.uint8],
        pair: NDArray[np.int32],
        direction: NDArray[np.uint8],
        packet: NDArray[np.int64],
        time_ns: NDArray[np.int64],
        packets: list[Packet],
    ) -> None:
        self.data = data
        self.bounds = bounds
        self.form = form
        """One of `columnar.forms`, or `batches.FAREWELL`."""
        self.pair = pair
        self.direction = direction
        """As `Link` has it: 0 is from the end that is named first."""
        self.packet = packet
        """The number of the packet that completed each batch."""
        self.time_ns = time_ns
        self.packets = packets
        """For the exact reader, in the order of the capture."""

    def __len__(self) -> int:
        return len(self.pair)


def read(
    path: str,
    survey: Survey,
    wanted: NDArray[np.bool_],
    with_other: bool = False,
    chunk_bytes: int = CHUNK_BYTES,
) -> Iterator[Chunk]:
    """What the pairs that are wanted say, and if asked for, the packets that are of no pair.

    Batches are in the order in which they were completed.
    """
    source = open_bytes(path)
    try:
        yield from _chunks(FileWindow(source, path), survey, wanted, with_other, chunk_bytes)
    finally:
        source.close()


def _chunks(
    window: FileWindow,
    survey: Survey,
    wanted: NDArray[np.bool_],
    with_other: bool,
    chunk_bytes: int,
) -> Iterator[Chunk]:
    scan = scan_of(window) if window.size == survey.size_bytes else None
    if scan is None or isinstance(scan, Refusal):
        raise changed(window.path, 0)
    pairs = Pairs.of_keys(survey.keys)
    roles = np.where(survey.regular, ASSEMBLE, HAND_ON)
    pairs.state[: len(survey), ROLE] = np.where(wanted, roles, PASS)
    ranges = [Range(*row) for row in survey.ranges.tolist()]
    known = Known(ranges, survey.specials, survey.pair_of, (~wanted).astype(np.uint8))
    reading = Reading(window, scan, pairs, False, with_other, chunk_bytes, known)
    spare = reading.new_batches()
    first_side = survey.first_side.astype(np.uint8)
    is_over = False
    while not is_over:
        reading.begin_chunk()
        packets: list[Packet] = []
        while not is_over:
            is_over = not reading.advance()
            if reading.problem:
                raise changed(window.path, 0)
            rows = reading.handed[: int(reading.counters[HANDED])]
            packets += packets_of(reading.packets, rows, reading.number, window.data)
            if reading.is_chunk_over:
                break
        units, batches = reading.units, reading.batches
        if not units and not packets:
            continue
        bounds = np.zeros(units + 1, np.int64)
        bounds[1:] = batches.stop[:units]
        pair = batches.pair[:units]
        yield Chunk(
            batches.data[: int(bounds[-1])],
            bounds,
            batches.form[:units],
            pair,
            batches.side[:units] ^ first_side[pair],
            batches.packet[:units],
            batches.time_ns[:units],
            packets,
        )
        # Used in turn, not freed: the system takes longer to clear memory than kernels to fill it.
        reading.batches, spare = spare, batches
    if reading.packets_seen != len(survey.pair_of) or pairs.state[: len(survey), REASON].any():
        raise changed(window.path, 0)
