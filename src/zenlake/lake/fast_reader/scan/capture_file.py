"""Chooses the scanner for the format of a capture, or refuses the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.capture import pcap, pcapng
from zenlake.capture.segment_reader import SEGMENT_HEAD_BYTES, is_segment_head
from zenlake.lake.fast_reader.scan.pcap_scan import PcapScan
from zenlake.lake.fast_reader.scan.pcapng_scan import PcapngScan

if TYPE_CHECKING:
    from zenlake.lake.fast_reader.scan.file_window import FileWindow


class Refusal:
    """The whole file is left to the exact reader; `cause` says why."""

    __slots__ = ("cause",)

    def __init__(self, cause: str) -> None:
        self.cause = cause

    def __repr__(self) -> str:
        return f"Refusal({self.cause!r})"


def scan_of(window: FileWindow) -> PcapScan | PcapngScan | Refusal:
    """The scanner, chosen by the first bytes of the file."""
    magic = window.head(4)
    if magic in pcap.MAGICS:
        return PcapScan(window)
    if is_segment_head(window.head(SEGMENT_HEAD_BYTES)):
        return Refusal("it is a recording")
    if magic == pcapng.MAGIC:
        return PcapngScan(window)
    return Refusal("neither pcap nor pcapng, or compressed")
