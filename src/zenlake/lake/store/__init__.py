"""The store of a lake: versions of its tables, each made visible in one atomic step.

    store       Store: what a lake holds now, and the way to change it
    run         Run: one change, from the lock to the new version
    plan        the next version: its manifest, and where its files come from
    snapshot    Snapshot: the files of one version, for readers
    manifest    what a version consists of, as JSON beside its tables
    layout      where everything lies, and which version is the current one
    files       links, copies and writes that are on the disk when they return
    lock        one writer at a time
    errors      LakeError

A lake is a folder:

    _versions/N/<table>/*.parquet   the files of version N, hard links where the disk has them
    _versions/N/manifest.json       which of them belong to which capture
    _current -> _versions/N         replacing this link is the atomic step
    <table> -> _current/<table>     so that any Parquet reader finds a table by its name
    _staging/<run>/, _lock          the work of a run

Where a file system has no symbolic links, `_current` is a file that holds the number and the
links by table are absent: readers then take the files from `Store.snapshot` or the manifest.

Each Parquet file holds rows of one capture, and each table has an `empty.parquet` with the
schema and no rows. Files of older versions may lack columns: read them united by name. The
version before the current one stays on the disk, older ones for a minute after they were
replaced, so that a reader who has taken a snapshot can finish.

A reader that goes by `DIR/<table>` asks for the current version each time it opens a file. All
files it has listed are still there when captures were added meanwhile; when one was replaced
or dropped in that moment, its files are missing or missed, never mixed with the new ones.
"""

from zenlake.lake.store.errors import LakeError
from zenlake.lake.store.manifest import CaptureEntry, Manifest
from zenlake.lake.store.plan import CaptureFiles
from zenlake.lake.store.run import Run
from zenlake.lake.store.snapshot import Snapshot
from zenlake.lake.store.store import Store

__all__ = ["CaptureEntry", "CaptureFiles", "LakeError", "Manifest", "Run", "Snapshot", "Store"]
