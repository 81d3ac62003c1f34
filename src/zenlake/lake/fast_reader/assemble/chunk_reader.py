"""The pass after a survey: batches of regular pairs, and packets of the others, in chunks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from zenlake.lake.fast_reader.assemble.batches import FORWARDED
from zenlake.lake.fast_reader.assemble.capture_pass import (
    CHUNK_BYTES,
    CapturePass,
    Range,
    SurveyedRanges,
)
from zenlake.lake.fast_reader.assemble.pairs import ASSEMBLE, FORWARD, REASON, ROLE, SKIP, Pairs
from zenlake.lake.fast_reader.scan.byte_source import open_bytes
from zenlake.lake.fast_reader.scan.capture_file import Refusal, scan_of
from zenlake.lake.fast_reader.scan.file_window import FileWindow, changed
from zenlake.lake.fast_reader.scan.packets import packets_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zenlake.capture.packet import Packet
    from zenlake.lake.fast_reader.regularity.survey import Survey


class Chunk:
    """A stretch of a capture. Batch `i` is `data[bounds[i]:bounds[i + 1]]`, without its length.

    Its arrays are reused by the chunk after the next one.
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
        """One of `columnar.forms`, or `batches.LAST_CLOSE`."""
        self.pair = pair
        self.direction = direction
        """As in `Link`: 0 is sent by the end that is named first."""
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
    content: bytes | None = None,
) -> Iterator[Chunk]:
    """Reads the wanted pairs, and `with_other` the packets that belong to no pair.

    Batches are in the order in which packets completed them.
    """
    source = open_bytes(path, content)
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
    scan = scan_of(window, False) if window.has_size(survey.size_bytes) else None
    if scan is None or isinstance(scan, Refusal) or not survey.is_of(scan):
        raise changed(window.path, 0)
    pairs = Pairs.from_keys(survey.keys)
    roles = np.where(survey.regular, ASSEMBLE, FORWARD)
    pairs.state[: len(survey), ROLE] = np.where(wanted, roles, SKIP)
    ranges = [Range(*row) for row in survey.ranges.tolist()]
    known = SurveyedRanges(ranges, survey.specials, survey.pair_of, (~wanted).astype(np.uint8))
    capture_pass = CapturePass(window, scan, pairs, False, with_other, chunk_bytes, known)
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
        units, batches = capture_pass.units, capture_pass.batches
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
            survey.recorded(batches.packet[:units]),
            batches.time_ns[:units],
            packets,
        )
        # Two buffers are reused: the system takes longer to clear memory than kernels to fill it.
        capture_pass.batches, spare = spare, batches
    if capture_pass.packets_seen != len(survey.pair_of) or pairs.state[: len(survey), REASON].any():
        raise changed(window.path, 0)
