"""Publish: the Delta tables of a lake, and the step that shows a run to its readers.

    store            Store: what a lake holds now, and the way to change it
    run              Run: one change, with a folder for its files
    publisher        files into tables, captures out of them, small files together
    turn             one run publishes at a time
    publication_log  which versions of all tables belong together
    delta_table      one table, through delta-rs
    removal          captures out of the files of a table
    snapshot         Snapshot: the files of one version, for readers
    manifest         the captures in a version
    places           files, on this machine or in a store
    old_format       lakes from before Delta tables

A lake is a folder, or an address in a store:

    <table>/_delta_log/        the log of the table: any reader of Delta tables reads it
    <table>/*.parquet          its files; all columns are in them
    captures/_delta_log/       also says which versions of all tables belong together
    _staging/<run>/            files that are not published yet

`DIR/<table>/*.parquet` are the current rows too, for a reader that only knows Parquet, as long as
no capture was replaced, dropped or compacted since the last `zenlake lake vacuum`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zenlake.lake.publish.errors import LakeError
from zenlake.lake.publish.manifest import CaptureEntry, Manifest
from zenlake.lake.publish.snapshot import Snapshot

if TYPE_CHECKING:
    from zenlake.lake.publish.run import Run
    from zenlake.lake.publish.store import Store

__all__ = ["CaptureEntry", "LakeError", "Manifest", "Run", "Snapshot", "Store"]


def __getattr__(name: str) -> Any:
    """delta-rs is loaded by those who open a lake; captures are read without it."""
    if name == "Store":
        from zenlake.lake.publish.store import Store

        return Store
    if name == "Run":
        from zenlake.lake.publish.run import Run

        return Run
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
