"""Reader: the second pass, which gives batches of regular pairs and packets of the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from zenlake.errors import CaptureError
from zenlake.lake.bulk.batches import HANDED
from zenlake.lake.bulk.capture_file import Refusal, map_file, scan_of
from zenlake.lake.bulk.packets import packets_of
from zenlake.lake.bulk.pairs import ASSEMBLE, HAND_ON, PASS, REASON, ROLE, Pairs
from zenlake.lake.bulk.reading import CHUNK_BYTES, Known, Reading

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zenlake.capture.packet import Packet
    from zenlake.lake.bulk.surveyed import Survey


class Chunk:
    """A stretch of a capture. Batch `i` is `data[bounds[i]:bounds[i + 1]]`, without its length."""

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
        """For the scalar road, in the order of the capture."""

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
    data = map_file(path)
    scan = scan_of(data)
    if isinstance(scan, Refusal) or len(data) != survey.size_bytes:
        raise _changed(path)
    pairs = Pairs.of_keys(survey.keys)
    roles = np.where(survey.regular, ASSEMBLE, HAND_ON)
    pairs.state[: len(survey), ROLE] = np.where(wanted, roles, PASS)
    known = Known(survey.pair_of, (~wanted).astype(np.uint8))
    reading = Reading(data, scan, pairs, False, with_other, chunk_bytes, known)
    first_side = survey.first_side.astype(np.uint8)
    while reading.advance():
        units, batches = reading.units, reading.batches
        rows = reading.handed[: int(reading.counters[HANDED])]
        packets = packets_of(reading.packets, rows, reading.number, data)
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
        reading.batches = reading.new_batches()
    is_same = reading.packet_count == survey.packets and not reading.problem
    if not is_same or pairs.state[: len(survey), REASON].any():
        raise _changed(path)


def _changed(path: str) -> CaptureError:
    return CaptureError(path, 0, "it is not what the survey saw")
