"""Selection: the packets of the messages that were chosen, written as a capture of their own."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from typing import IO

from zenlake.capture.files import packets
from zenlake.capture.packet import Skipped
from zenlake.capture.pcapng_writer import PcapngWriter
from zenlake.errors import LocalError
from zenlake.trace.events import MessageSeen


class Selection:
    """Packet numbers, one bit for each: a capture may have millions."""

    def __init__(self) -> None:
        self._bits = bytearray()

    def add(self, event: MessageSeen) -> None:
        self._add(event.packet)
        for number in event.earlier_packets:
            self._add(number)

    def _add(self, number: int) -> None:
        place = number >> 3
        if place >= len(self._bits):
            self._bits.extend(bytes(max(place + 1 - len(self._bits), len(self._bits), 64)))
        self._bits[place] |= 1 << (number & 7)

    def __contains__(self, number: int) -> bool:
        place = number >> 3
        return place < len(self._bits) and self._bits[place] >> (number & 7) & 1 != 0


class SelectionWriter:
    """Writes the selections of one capture after the other to one file.

    The file is opened when the first capture has been read, so that a wrong call costs nothing.
    """

    def __init__(self, path: str, inputs: list[str]) -> None:
        refuse_an_input(path, inputs)
        if path != "-" and not os.path.isdir(os.path.dirname(path) or "."):
            raise LocalError(f"{path} cannot be written: there is no such folder")
        self.path = path
        self.written = 0
        self._file: IO[bytes] | None = None
        self._writer: PcapngWriter | None = None

    def write(self, selection: Selection, paths: list[str]) -> None:
        """In the order of the files, which are read a second time."""
        if self._writer is None:
            self._file = _open_to_write(self.path)
            self._writer = PcapngWriter(self._file)
        for packet in packets(paths, Skipped()):
            if packet.number in selection:
                self._writer.write(packet)
                self.written += 1

    def close(self) -> None:
        if self._file is not None:
            self._file.flush()
            if self.path != "-":
                self._file.close()


def _open_to_write(path: str) -> IO[bytes]:
    if path == "-":
        return sys.stdout.buffer
    try:
        return open(path, "wb")
    except OSError as error:
        raise LocalError(f"{path} cannot be written: {error.strerror}") from None


def refuse_an_input(path: str, inputs: list[str]) -> None:
    if path == "-" or not os.path.exists(path):
        return
    for other in inputs:
        if other != "-" and os.path.exists(other) and os.path.samefile(path, other):
            raise LocalError(f"{path} is read: it cannot be written as well")


def spool_standard_input() -> str:
    """A file with all of it, to be read twice; the caller removes it."""
    with tempfile.NamedTemporaryFile(prefix="zenlake-", delete=False) as file:
        try:
            shutil.copyfileobj(sys.stdin.buffer, file)
        except BaseException:
            os.unlink(file.name)
            raise
        return file.name
