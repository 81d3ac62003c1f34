"""PublicationParts: publications of more samples than fit into memory, in parts on the disk.

DuckDB writes to the disk what does not fit, but needs memory in proportion to the rows of a step.
So the rows are divided three times, and each part is processed alone:

    by content       rows with another content are no hops of one publication (`publications.build`)
    by publication   of its rows, the first hop and the first and last time are found
    by seq           to join what was found to rows of `samples`, which are in this order

A part has rows of equal values together: one value that was published millions of times needs as
much memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

from zenlake.lake.derive.duck import Engine, Frame
from zenlake.lake.derive.duck.engine import literal
from zenlake.lake.derive.steps import latencies, publications

ROW_BYTES: Final = 256
"""Memory that a step needs for a row; measured were 64 to 128."""
PARTS_MAX: Final = 64
"""DuckDB writes all parts at the same time, and holds some rows of each in memory."""


class PublicationParts:
    """What `latencies.measure` finds for the rows of a frame, in parts."""

    def __init__(self, engine: Engine, samples: Frame, rows: int, rows_max: int, folder: Path):
        self._engine = engine
        self._samples = samples
        self._folder = folder
        self._count = min(PARTS_MAX, -(-rows // rows_max))
        self._writes = 0
        text = f"SELECT min(seq), max(seq) FROM {samples.name}"
        [(low, high)] = engine.connection.execute(text).fetchall()
        self._low = int(low)
        self._step = -(-(int(high) - int(low) + 1) // self._count)
        """Numbers of `seq` in a part."""
        self._measure()

    def _measure(self) -> None:
        contents = cast(Frame, latencies.contents_of_captures(cast(Any, self._samples)))
        self._divide(contents, "contents", f"content % {self._count}")
        for part in self._parts("contents"):
            kept: list[Frame] = []
            matched = publications.build(cast(Any, part), self._keeper(kept))
            where = f"coalesce(publication % {self._count}, 0)"
            self._divide(cast(Frame, matched), "publications", where)
            for frame in kept:
                self._engine.connection.execute(f"DROP TABLE {frame.name}")
        for part in self._parts("publications"):
            measured = cast(Frame, latencies.measure_numbered(cast(Any, part)))
            self._divide(measured, "measured", f"(seq - {self._low}) // {self._step}")

    def _keeper(self, kept: list[Frame]) -> Any:
        def keep(name: str, frame: Frame) -> Frame:
            kept.append(self._engine.keep(frame))
            return kept[-1]

        return keep

    def between(self, low: int, high: int) -> Frame | None:
        """What was found for samples with `seq` in these bounds; None if nothing was."""
        first, last = ((seq - self._low) // self._step for seq in (low, high))
        numbers = range(max(first, 0), min(last, self._count - 1) + 1)
        paths = [path for number in numbers for path in self._paths("measured", number)]
        return self._read(paths).filtered(f"seq BETWEEN {low} AND {high}") if paths else None

    def _divide(self, frame: Frame, name: str, part: str) -> None:
        """Writes the rows of a frame to files of their parts."""
        self._writes += 1
        target = self._folder / name / str(self._writes)
        target.parent.mkdir(parents=True, exist_ok=True)
        place = "'" + str(target).replace("'", "''") + "'"
        self._engine.connection.execute(
            f"COPY (SELECT *, {part} AS part FROM {frame.name}) TO {place} "
            "(FORMAT parquet, COMPRESSION lz4, PARTITION_BY (part))"
        )

    def _parts(self, name: str) -> Iterator[Frame]:
        for number in range(self._count):
            paths = self._paths(name, number)
            if paths:
                yield self._read(paths)

    def _paths(self, name: str, number: int) -> list[str]:
        found = (self._folder / name).glob(f"*/part={number}/*.parquet")
        return sorted(str(path) for path in found)

    def _read(self, paths: list[str]) -> Frame:
        listed = ", ".join("'" + literal(path).replace("'", "''") + "'" for path in paths)
        text = f"FROM read_parquet([{listed}], hive_partitioning = false)"
        return self._engine.query(text, self._samples.sources)
