"""`Selection`: the packets of the selected messages, and how they are written as a capture."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import TYPE_CHECKING, Final

from zenlake.capture.files import packets
from zenlake.capture.packet import Skipped
from zenlake.capture.pcapng_writer import PcapngWriter
from zenlake.errors import LocalError
from zenlake.output_file import OutputFile, write_errors
from zenlake.trace.events import MessageSeen

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

_SPOOL_BYTES: Final = 1 << 20


class Selection:
    """A set of packet numbers, one bit each: a capture may have millions."""

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
    """Writes the selections of several captures to one file.

    The file is opened after the first capture has been read, so that an error before that leaves
    no file. `commit` gives the file its name.
    """

    def __init__(self, path: str, inputs: list[str]) -> None:
        refuse_an_input(path, inputs)
        if path != "-" and not os.path.isdir(os.path.dirname(path) or "."):
            raise LocalError(f"{path} cannot be written: there is no such folder")
        self.path = path
        self.written = 0
        self._file: OutputFile | None = None
        self._writer: PcapngWriter | None = None

    def write(self, selection: Selection, paths: list[str]) -> None:
        """Write packets in the order of the files, which are read a second time."""
        if self._writer is None:
            self._writer = PcapngWriter(self._open())
        for packet in packets(paths, Skipped()):
            if packet.number in selection:
                self._writer.write(packet)
                self.written += 1

    def _open(self) -> SupportsWrite[bytes]:
        if self.path == "-":
            return sys.stdout.buffer
        self._file = OutputFile(self.path)
        return self._file

    def commit(self) -> None:
        if self._file is not None:
            self._file.commit()
        elif self._writer is not None:
            sys.stdout.buffer.flush()

    def discard(self) -> None:
        if self._file is not None:
            self._file.discard()


def refuse_an_input(path: str, inputs: list[str]) -> None:
    if path == "-" or not os.path.exists(path):
        return
    for other in inputs:
        if other != "-" and os.path.exists(other) and os.path.samefile(path, other):
            raise LocalError(f"{path} is read: it cannot be written as well")


def spool_standard_input() -> str:
    """Copy standard input to a file, which can be read twice; the caller removes it."""
    descriptor, path = tempfile.mkstemp(prefix="zenlake-")
    try:
        # Unbuffered: closing a buffer that could not be written fails a second time.
        with open(descriptor, "wb", buffering=0) as file:
            while data := sys.stdin.buffer.read(_SPOOL_BYTES):
                rest = memoryview(data)
                while rest:
                    with write_errors(path):
                        rest = rest[file.write(rest) :]
    except BaseException:
        os.unlink(path)
        raise
    return path
