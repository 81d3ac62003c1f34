"""CaptureReader: reads rotated captures piece by piece with the state of their connections.

A piece is read after all packets before it. A reader continues at its position, so that each packet
is read once, independent of the number of pieces and files.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Generator
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from zenlake.capture.files import packets
from zenlake.capture.packet import Packet, Skipped
from zenlake.lake.exact_reader.exact_tables import ExactReader, Tables
from zenlake.lake.source.live.live_files import compressed_or_not, name_of_capture
from zenlake.lake.source.live.planner import Piece
from zenlake.lake.source.live.range_rows import Write, adding_to
from zenlake.trace.rows.seq import ORDINAL_BITS
from zenlake.trace.trace import Trace


class FileStart(NamedTuple):
    """A file, and how many packets were read before it."""

    before: int
    name: str
    file: str
    """The path of the file, including the suffix of its compression."""


class CaptureReader:
    """Reads pieces in order; unusable after an error."""

    def __init__(self, capture: str) -> None:
        self._capture = capture
        self._trace = Trace(())
        self._skipped = Skipped()
        self._packets: Generator[Packet, None, None] | None = None
        self._number = 0
        """The number of packets that were read from the last file."""

        self.starts: list[FileStart] = []
        """The files that were read so far, with the one that is being read."""

    def is_before(self, piece: Piece) -> bool:
        """Whether a piece can be read next: only earlier packets were read, none was skipped."""
        if not self.starts:
            return True
        names = [*map(name_of_capture, piece.earlier), piece.name]
        last = self.starts[-1].name
        known = {start.name for start in self.starts}
        if last not in names or not known.issuperset(names[: names.index(last)]):
            return False
        return last != piece.name or self._number <= piece.first

    def skip_to(self, piece: Piece, tables: Collection[str] = ()) -> Tables:
        """Reads all packets before a piece; returns their rows of some tables, with packets counted
        through all files."""
        found: Tables = {}
        keep = adding_to(found)
        exact = ExactReader(self._trace, self._capture, tables) if tables else None
        known = {start.name for start in self.starts[:-1]}
        for path in piece.earlier:
            if name_of_capture(path) not in known:
                # A missing old capture is tolerated: only the state of its connections is lost.
                self._begin(path, compressed_or_not(path))
                self._feed(None, exact, keep)
        self._begin(piece.path, compressed_or_not(piece.path) or piece.path)
        self._feed(piece.first, exact, keep)
        if exact is not None:
            keep(exact.finish())
        return found

    def read(
        self, piece: Piece, tables: Collection[str], write: Write, is_through: bool = False
    ) -> int:
        """Calls `write` with the rows that packets of the piece complete; returns the last time.

        The end of the piece is not the end of the capture, so the trace is not finished. Packets
        are counted in each file or, if `is_through`, through all files.
        """
        self.skip_to(piece)
        name = os.path.basename(piece.path)
        place = self._capture if is_through else os.path.join(self._capture, name)
        exact = ExactReader(self._trace, place, tables)
        shift = 0 if is_through else -self.starts[-1].before

        def renumber(made: Tables) -> None:
            if made:
                write({name: [shifted(part, shift) for part in made[name]] for name in made})

        self._feed(piece.last, exact, renumber)
        renumber(exact.finish())
        return self._trace.last_ns or 0

    def _begin(self, path: str, found: str | None) -> None:
        """Open a file, unless it is the one that is being read."""
        name = name_of_capture(path)
        if self.starts and self.starts[-1].name == name and self._packets is not None:
            return
        before = self.starts[-1].before + self._number if self.starts else 0
        self.close()
        self.starts.append(FileStart(before, name, os.path.basename(path)))
        self._number = 0
        self._packets = packets(() if found is None else (found,), self._skipped)

    def _feed(self, last: int | None, exact: ExactReader | None, write: Write) -> None:
        """Read the file up to a packet, or to its end."""
        assert self._packets is not None
        before = self.starts[-1].before
        while last is None or self._number < last:
            packet = next(self._packets, None)
            if packet is None:
                break
            self._number = packet.number
            packet.number += before
            for item, events in self._trace.feed(packet):
                if exact is not None:
                    write(exact.feed(item, events))

    def close(self) -> None:
        if self._packets is not None:
            self._packets.close()
            self._packets = None


def shifted(part: pa.Table, shift: int) -> pa.Table:
    """Rows with other packet numbers."""
    if not shift:
        return part
    for name, added in (("packet", shift), ("seq", shift << ORDINAL_BITS)):
        if name in part.column_names:
            place = part.column_names.index(name)
            part = part.set_column(place, part.schema.field(name), pc.add(part[name], added))
    return part
