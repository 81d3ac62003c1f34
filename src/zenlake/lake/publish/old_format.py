"""Lakes of the format before Delta tables: they can be read, and the next run converts them.

_versions/N/<table>/*.parquet   the files of version N; each holds rows of one capture
_versions/N/manifest.json       which of them belong to which capture
_current -> _versions/N         the version that readers see
<table> -> _current/<table>
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from zenlake.lake.address import Address, parse
from zenlake.lake.errors import LakeError
from zenlake.lake.parquet.statistics import TextBounds, statistics
from zenlake.lake.path_safety import check_file_name, check_table_name
from zenlake.lake.publish.captures_table import CAPTURES
from zenlake.lake.publish.delta_table import DataFile, Table
from zenlake.lake.publish.manifest import COUNTS, CaptureEntry, Manifest
from zenlake.lake.publish.publication_log import Publication
from zenlake.lake.publish.snapshot import Snapshot
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.table import VERSION as SCHEMA_VERSION

NAMES: Final = ("_versions", "_current", "_lock")
_EMPTY_FILE: Final = "empty.parquet"
_CONVERTED: Final = "_converted"
_DAMAGE: Final = (AttributeError, LookupError, TypeError, ValueError)


def is_there(lake: Address) -> bool:
    return os.path.lexists(os.path.join(lake.path, "_current"))


def version(lake: Address) -> int:
    current = os.path.join(lake.path, "_current")
    try:
        text = os.path.basename(os.readlink(current))
    except OSError:  # a file system without symbolic links
        try:
            text = Path(current).read_text("ascii")
        except (OSError, ValueError) as error:
            raise LakeError(f"damaged: {error}", current) from None
    if not text.strip().isdecimal():
        raise LakeError(f"damaged: {text[:40]!r} is no version", current)
    return int(text)


def snapshot(lake: Address) -> Snapshot:
    """The current version."""
    number = version(lake)
    folder = lake / f"_versions/{number}"
    document = _document(folder)
    try:
        entries = {item["path"]: _entry(item) for item in document["captures"]}
        tables = tuple(str(table) for table in document["tables"])
        names = {table: [_EMPTY_FILE, *_names(document, table, folder)] for table in tables}
    except _DAMAGE as error:
        raise LakeError(f"the manifest is damaged: {error!r}", folder) from None
    manifest = Manifest(number, tables, entries)
    return Snapshot(number, folder, manifest, lambda table: names[table])


def _document(folder: Address) -> dict[str, Any]:
    path = Path(folder.path, "manifest.json")
    try:
        document: dict[str, Any] = json.loads(path.read_bytes())
        schema = int(document["schema_version"])
    except OSError as error:
        raise LakeError.from_os(error, path) from None
    except _DAMAGE as error:
        raise LakeError(f"the manifest is damaged: {error!r}", path) from None
    if schema > SCHEMA_VERSION:
        raise LakeError(f"written by a newer zenlake (schema {schema})", path)
    return document


def _names(document: dict[str, Any], table: str, folder: Address) -> list[str]:
    check_table_name(table, folder)
    found = [name for item in document["captures"] for name in item["files"].get(table, ())]
    for name in found:
        check_file_name(name, folder)
    return found


def _entry(item: dict[str, Any]) -> CaptureEntry:
    return CaptureEntry(
        str(item["path"]),
        str(item["sha256"]),
        int(item["size"]),
        dict(item["rows"]),
        dict(item["info"]),
        # Converted rows lack the columns that were added with Delta tables.
        min(int(item.get("schema_version", 1)), SCHEMA_VERSION),
        str(parse(item["path"])),
    )


def convert(lake: Address) -> None:
    """Converts the lake to Delta tables. Files keep their content and get other names."""
    with _locked(lake):
        if not is_there(lake):
            return
        old = snapshot(lake)
        folder = lake / _CONVERTED
        shutil.rmtree(folder.path, ignore_errors=True)
        versions = {name: _convert_table(folder / name, name, old) for name in _other_tables(old)}
        _publish(folder, old, versions)
        # All files exist now; from here on they are only moved into place, `captures` last.
        for name in (*versions, CAPTURES):
            place = os.path.join(lake.path, name)
            if os.path.islink(place):
                os.unlink(place)
            else:
                shutil.rmtree(place, ignore_errors=True)
            os.replace((folder / name).path, place)
        os.unlink(os.path.join(lake.path, "_current"))
        for name in ("_versions", _CONVERTED):
            shutil.rmtree(os.path.join(lake.path, name), ignore_errors=True)
    Path(lake.path, "_lock").unlink(missing_ok=True)


def _other_tables(old: Snapshot) -> list[str]:
    return [name for name in old.manifest.tables if name in TABLES and name != CAPTURES]


def _convert_table(place: Address, name: str, old: Snapshot) -> int:
    """Creates a table with hard links to the files of the old one; returns its version."""
    table = Table.create(place, TABLES[name].arrow)
    files = [_link_file(file, place) for file in old.files(name)]
    return table.commit(add=files, facts={"converted": old.version}).version


def _link_file(file: Path, place: Address) -> DataFile:
    target = Path(place.path, file.name)
    try:
        os.link(file, target)
    except OSError:
        shutil.copyfile(file, target)
    metadata = pq.read_metadata(target)
    bounds = TextBounds()
    bounds.add(pq.read_table(target, columns=["capture"]))
    return DataFile(
        file.name, target.stat().st_size, metadata.num_rows, statistics(metadata, bounds)
    )


def _publish(folder: Address, old: Snapshot, versions: dict[str, int]) -> None:
    rows = []
    for file in old.files(CAPTURES):
        for row in pq.read_table(file).to_pylist():
            entry = old.manifest.captures[row["capture"]]
            rows.append(
                {
                    **row,
                    **{column: entry.rows.get(table, 0) for table, column in COUNTS.items()},
                    "queries": entry.info.get("queries"),
                    "address": entry.address,
                    "schema_version": entry.schema_version,
                }
            )
    place = folder / CAPTURES
    table = Table.create(place, TABLES[CAPTURES].arrow)
    target = Path(place.path, "converted.parquet")
    pq.write_table(pa.Table.from_pylist(rows, TABLES[CAPTURES].arrow), target)
    metadata = pq.read_metadata(target)
    stats = statistics(metadata, TextBounds())
    added = DataFile(target.name, target.stat().st_size, metadata.num_rows, stats)
    publication = Publication(old.version, SCHEMA_VERSION, versions)
    table.commit(add=[added], facts=publication.facts("conversion"))


@contextmanager
def _locked(lake: Address) -> Iterator[None]:
    """Holds the lock of the old format, which the system releases when its process dies."""
    descriptor = os.open(os.path.join(lake.path, "_lock"), os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
