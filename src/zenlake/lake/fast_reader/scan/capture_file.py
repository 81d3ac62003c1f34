"""Chooses the scanner for the format of a capture, or refuses the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.capture import pcap, pcapng
from zenlake.capture.segment_reader import SEGMENT_HEAD_BYTES, is_segment_head
from zenlake.lake.fast_reader.scan.pcap_scan import PcapScan
from zenlake.lake.fast_reader.scan.pcapng_scan import PcapngScan
from zenlake.lake.fast_reader.scan.segment_scan import SegmentScan

if TYPE_CHECKING:
    from zenlake.lake.fast_reader.scan.file_window import FileWindow


class Refusal:
    """The whole file is left to the exact reader; `cause` says why."""

    __slots__ = ("cause",)

    def __init__(self, cause: str) -> None:
        self.cause = cause

    def __repr__(self) -> str:
        return f"Refusal({self.cause!r})"


Scan = PcapScan | PcapngScan | SegmentScan


def scan_of(window: FileWindow, is_checked: bool = True) -> Scan | Refusal:
    """The scanner, chosen by the first bytes of the file.

    A pass over a file that a survey has checked does not need `is_checked`.
    """
    magic = window.head(4)
    if magic in pcap.MAGICS:
        return PcapScan(window)
    if is_segment_head(window.head(SEGMENT_HEAD_BYTES)):
        return SegmentScan(window, is_checked)
    if window.is_recording:
        return Refusal("its first segment is damaged")
    if magic == pcapng.MAGIC:
        return PcapngScan(window)
    return Refusal("neither pcap nor pcapng, or compressed")
