"""`ExprAutomaton`: a key expression as an automaton that reads the chunks of other expressions.

The expression's chunks are numbered from 0. *Position* `p` means "everything before chunk `p`
is matched"; the position after the last chunk is the end. The automaton can be at several
positions at once: the set of them is one int with a bit for each, and reading one chunk is
a few operations on that int, independent of the number of `**`.

    expression a/**/c       positions  0: a   1: **   2: c   3: end
    start                   0
    after reading a         1, 2       (`**` may be empty, so 1 includes 2)
    after reading a/b       1, 2
    after reading a/b/c     1, 2, 3    the end is reached: a/b/c matches

The chunks read may be wildcards themselves. Then positions move as if every text that the
wildcard stands for were read at once, which answers "do the two have a key in common".

Only `$*` needs comparisons of text. They are counted in `steps` by the work they may do: one
each, and one more for each `CHARACTERS_PER_STEP` in the product of the two lengths.
"""

from __future__ import annotations

from typing import Final

from zenlake.keyexpr.matching import chunk_intersects
from zenlake.limits import KEY_EXPR_CHUNKS_MAX

CHARACTERS_PER_STEP: Final = 1_024

BITS: Final = [1 << position for position in range(KEY_EXPR_CHUNKS_MAX)]


class ExprAutomaton:
    """The positions of a canonical key expression and how chunks move them."""

    __slots__ = (
        "_after_last",
        "_last",
        "chunks",
        "doubles",
        "end",
        "free",
        "places",
        "singles",
        "steps",
        "wild",
    )

    def __init__(self, expr: str) -> None:
        self.chunks = expr.split("/")

        self.steps = 0
        """The work done so far."""

        self.places: dict[str, int] = {}
        """The positions of each chunk."""

        self.singles = 0
        self.doubles = 0
        self._last = 0
        self._after_last = 0

        self.wild = 0
        """The positions of `*`, `**` and chunks with `$*`."""

        self.end = 1 << len(self.chunks)

        self.free = self.end - 1
        """The positions of chunks that a wildcard of the other expression may match."""

        if "*" not in expr and "@" not in expr:
            self.places = dict(zip(self.chunks, BITS, strict=False))
            if len(self.places) == len(self.chunks):
                return
        self._place_chunks()

    def _place_chunks(self) -> None:
        places: dict[str, int] = {}
        bit = 1
        for chunk in self.chunks:
            places[chunk] = places.get(chunk, 0) | bit
            if chunk[0] == "@":
                self.free ^= bit
            elif "*" in chunk:
                self.wild |= bit
            bit <<= 1
        self.places = places
        self.singles = places.get("*", 0)
        self.doubles = places.get("**", 0)

    def after(self, positions: int, chunk: str) -> int:
        """The positions after reading `chunk` at `positions`; 0 if it fits at none of them."""
        doubles = self.doubles
        if chunk[0] == "@":
            moved = (positions & self.places.get(chunk, 0)) << 1
        elif "*" not in chunk:
            fitting = self.singles | self.places.get(chunk, 0)
            patterns = positions & self.wild & ~self.singles & ~doubles
            if patterns:
                fitting |= self._fitting(patterns, chunk)
            moved = ((positions & fitting) << 1) | (positions & doubles)
        elif chunk == "*":
            return self.after_single(positions)
        elif chunk == "**":
            return self.after_double(positions)
        else:
            open_positions = positions & self.free & ~doubles
            texts = open_positions & ~self.singles
            if texts:
                open_positions ^= texts ^ self._fitting(texts, chunk)
            moved = (open_positions << 1) | (positions & doubles)
        return moved | ((moved & doubles) << 1)

    def after_any(self, positions: int, chunk: str) -> int:
        """The same as `after`, but faster for many chunks at the same positions.

        All literal chunks that the expression does not have are alike, unless it has `$*`.
        """
        if chunk in self.places or "*" in chunk or chunk[0] == "@":
            return self.after(positions, chunk)
        if positions == self._last:
            return self._after_last
        after = self.after(positions, chunk)
        if not positions & self.wild & ~self.singles & ~self.doubles:
            self._last = positions
            self._after_last = after
        return after

    def only_end_after_others(self, positions: int) -> bool:
        """Whether a literal chunk that the expression does not have leads to the end or nowhere."""
        if positions & self.doubles or positions & self.wild & ~self.singles:
            return False
        moved = (positions & self.singles) << 1
        return not (moved | ((moved & self.doubles) << 1)) & ~self.end

    def after_single(self, positions: int) -> int:
        """The positions after reading `*`."""
        doubles = self.doubles
        moved = ((positions & self.free & ~doubles) << 1) | (positions & doubles)
        return moved | ((moved & doubles) << 1)

    def after_double(self, positions: int) -> int:
        """The positions after reading `**`: all from each position to the next verbatim chunk."""
        # The sum carries each position up through the free positions that follow it.
        free = self.free
        return (((positions & free) + free) ^ free) | positions

    def after_run(self, positions: int, run: str) -> int:
        """The positions after reading chunks."""
        for chunk in run.split("/"):
            self.steps += 1
            positions = self.after(positions, chunk)
            if not positions:
                break
        return positions

    def texts_at(self, positions: int) -> list[str]:
        """The distinct chunks at these positions, none of which is the end."""
        if not positions & (positions - 1):
            return [self.chunks[positions.bit_length() - 1]] if positions else []
        texts: list[str] = []
        while positions:
            text = self.chunks[(positions & -positions).bit_length() - 1]
            texts.append(text)
            positions &= ~self.places[text]
        return texts

    def _fitting(self, positions: int, chunk: str) -> int:
        """The positions, among these, whose text intersects a chunk."""
        fitting = 0
        for text in self.texts_at(positions):
            self.steps += 1 + len(text) * len(chunk) // CHARACTERS_PER_STEP
            if chunk_intersects(text, chunk):
                fitting |= self.places[text]
        return fitting & positions
