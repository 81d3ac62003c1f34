"""ByteRanges: pieces that arrived out of order, sorted; of two copies of a byte the first wins.

IP fragments and TCP segments are reassembled by the same rules. A piece may end in bytes that a
snap length cut from the capture; these count as received.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

from zenlake.capture.packet import Skipped

PIECE_COST: Final = 128
"""Memory of a piece besides its bytes, so that a million pieces of one byte are bounded too."""


class Piece:
    """`data` at `start`, then `missing` bytes that the capture does not have."""

    __slots__ = ("data", "end", "missing", "number", "start", "time_ns")

    def __init__(self, start: int, data: bytes, missing: int, number: int, time_ns: int) -> None:
        self.start = start
        self.end = start + len(data) + missing
        self.data = data
        self.missing = missing
        self.number = number
        self.time_ns = time_ns

    def part(self, start: int, end: int) -> Piece:
        """The part of the piece from `start` to `end`."""
        data = self.data[start - self.start : end - self.start]
        return Piece(start, data, end - start - len(data), self.number, self.time_ns)


class ByteRanges:
    """Sorted pieces without overlap; `cost` is the memory they use."""

    __slots__ = ("conflicting", "cost", "covered", "pieces", "repeated", "starts")

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.starts: list[int] = []
        self.cost = 0
        self.covered = 0
        """Bytes received, including those that a snap length cut."""
        self.repeated = 0
        """Bytes that were received before."""
        self.conflicting = 0
        """Bytes received before with another value."""

    def add(self, piece: Piece) -> None:
        """Adds the bytes of a piece that were not received before."""
        pieces = self.pieces
        at = bisect_right(self.starts, piece.start)
        if at == len(pieces) and (not at or pieces[at - 1].end <= piece.start):
            pieces.append(piece)
            self.starts.append(piece.start)
            self.cost += len(piece.data) + PIECE_COST
            self.covered += piece.end - piece.start
            return
        if at and pieces[at - 1].end > piece.start:
            at -= 1
        first, place, new = at, piece.start, []
        while place < piece.end:
            old = pieces[at] if at < len(pieces) else None
            if old is None or old.start >= piece.end:
                new.append(piece.part(place, piece.end))
                break
            if old.start > place:
                new.append(piece.part(place, old.start))
            new.append(old)
            self._compare(old, piece)
            place = old.end
            at += 1
        self._replace(first, at, new)

    def report_repeated(self, skipped: Skipped, what: str) -> None:
        """Counts the bytes that were received before, once each."""
        if self.repeated:
            skipped.add(f"{what} bytes seen before", self.repeated)
            self.repeated = 0
        if self.conflicting:
            skipped.add(f"{what} bytes in conflict", self.conflicting)
            self.conflicting = 0

    def pop_first(self, count: int) -> list[Piece]:
        """Removes the first pieces and returns them."""
        removed = self.pieces[:count]
        del self.pieces[:count], self.starts[:count]
        for piece in removed:
            self.cost -= len(piece.data) + PIECE_COST
            self.covered -= piece.end - piece.start
        return removed

    def _compare(self, old: Piece, piece: Piece) -> None:
        start, end = max(old.start, piece.start), min(old.end, piece.end)
        self.repeated += min(end, piece.end - piece.missing) - min(start, piece.end - piece.missing)
        a = old.data[start - old.start : end - old.start]
        b = piece.data[start - piece.start : end - piece.start]
        size = min(len(a), len(b))
        if a[:size] != b[:size]:
            self.conflicting += sum(x != y for x, y in zip(a, b, strict=False))

    def _replace(self, first: int, last: int, new: list[Piece]) -> None:
        for piece in new:
            self.cost += len(piece.data) + PIECE_COST
            self.covered += piece.end - piece.start
        for piece in self.pieces[first:last]:
            self.cost -= len(piece.data) + PIECE_COST
            self.covered -= piece.end - piece.start
        self.pieces[first:last] = new
        self.starts[first:last] = [piece.start for piece in new]
