"""Writes a Parquet file again without the rows of some captures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from zenlake.lake.errors import LakeError
from zenlake.lake.parquet.parquet_files import ParquetFiles, WrittenFile
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.table import Table

ROWS_AT_ONCE: Final = 65_536


def rewrite_without(
    path: Path, name: str, gone: frozenset[str], folder: Path
) -> WrittenFile | None:
    """The file without the rows of these captures; None if it has none of them."""
    names = pa.array(sorted(gone), pa.string())
    is_changed = False
    with arrow_errors("read", path), ParquetFiles(folder, TABLES) as files:
        for rows in parts_of(path, name):
            keep = pc.invert(pc.is_in(rows.column("capture").cast(pa.string()), names))
            chosen = rows.filter(keep)
            is_changed = is_changed or chosen.num_rows < rows.num_rows
            files.write({name: [chosen]})
    if not is_changed:
        files.abandon()
        return None
    written = files.close()
    return written[0] if written else WrittenFile(name, "", 0, 0, "")


def divide_by_capture(
    path: Path, name: str, capture: str, folder: Path
) -> tuple[dict[str, Any], list[dict[str, Any]]] | None:
    """The rows of one capture, and those of others, as files; None if it has none of the first."""
    with (
        arrow_errors("read", path),
        ParquetFiles(folder / "own", TABLES) as own,
        ParquetFiles(folder / "others", TABLES) as others,
    ):
        for rows in parts_of(path, name):
            is_own = pc.equal(rows.column("capture").cast(pa.string()), capture)
            for files, chosen in ((own, is_own), (others, pc.invert(is_own))):
                part = rows.filter(chosen)
                if part.num_rows:
                    files.write({name: [part]})
    written = [one._asdict() for one in own.close()]
    rest = [one._asdict() for one in others.close()]
    return (written[0], rest) if written else None


def parts_of(path: Path, name: str, kinds: Mapping[str, Table] = TABLES) -> Iterator[pa.Table]:
    """The rows of a file, some at a time; columns that it lacks are added with nulls."""
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(ROWS_AT_ONCE):
            rows = pa.Table.from_batches([batch])
            for field in kinds[name].arrow:
                if field.name not in rows.column_names:
                    rows = rows.append_column(field, pa.nulls(rows.num_rows, field.type))
            yield rows


@contextmanager
def arrow_errors(verb: str, place: Path) -> Iterator[None]:
    """Raises errors of Arrow and of the system as LakeErrors."""
    try:
        yield
    except (OSError, pa.ArrowInvalid) as error:
        raise LakeError(f"cannot be {verb}: {' '.join(str(error).split())}", place) from None
