"""CaptureFile: a capture mapped into memory, if it is one that the bulk road reads."""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING

import numpy as np

from zenlake.capture import pcap, pcapng
from zenlake.errors import CaptureError
from zenlake.lake.bulk.pcap_scan import PcapScan
from zenlake.lake.bulk.pcapng_scan import PcapngScan

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Refusal:
    """The whole file is left to the scalar road, and why."""

    __slots__ = ("cause",)

    def __init__(self, cause: str) -> None:
        self.cause = cause

    def __repr__(self) -> str:
        return f"Refusal({self.cause!r})"


def map_file(path: str) -> NDArray[np.uint8]:
    """Its bytes, read as they are needed."""
    try:
        with open(path, "rb") as file:
            if not file.seek(0, 2):
                return np.zeros(0, np.uint8)
            return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
    except (OSError, ValueError) as error:
        cause = error.strerror if isinstance(error, OSError) else str(error)
        raise CaptureError(path, 0, f"cannot be opened: {cause}") from None


def scan_of(data: NDArray[np.uint8]) -> PcapScan | PcapngScan | Refusal:
    """How its records are read, told by its first bytes."""
    magic = data[:4].tobytes()
    if magic in pcap.MAGICS:
        return PcapScan(data)
    if magic == pcapng.MAGIC:
        return PcapngScan(data)
    return Refusal("neither pcap nor pcapng, or compressed")
