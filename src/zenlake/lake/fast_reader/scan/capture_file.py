"""CaptureFile: how the records of a capture are read, if the fast reader reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.capture import pcap, pcapng
from zenlake.lake.fast_reader.scan.pcap_scan import PcapScan
from zenlake.lake.fast_reader.scan.pcapng_scan import PcapngScan

if TYPE_CHECKING:
    from zenlake.lake.fast_reader.scan.file_window import FileWindow


class Refusal:
    """The whole file is left to the exact reader, and why."""

    __slots__ = ("cause",)

    def __init__(self, cause: str) -> None:
        self.cause = cause

    def __repr__(self) -> str:
        return f"Refusal({self.cause!r})"


def scan_of(window: FileWindow) -> PcapScan | PcapngScan | Refusal:
    """How its records are read, told by its first bytes."""
    magic = window.head(4)
    if magic in pcap.MAGICS:
        return PcapScan(window)
    if magic == pcapng.MAGIC:
        return PcapngScan(window)
    return Refusal("neither pcap nor pcapng, or compressed")
