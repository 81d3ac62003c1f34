"""Publish: the Delta tables of a lake, and the commit that makes a run visible to readers.

The input is the files of a run and rows of `captures`, the output a new version of the lake.

    store            Store: the current content of a lake, and how to change it
    run              Run: one change, with a folder for its files
    publisher        adds files to tables, removes captures, compacts small files
    appender         adds batches of rows to a capture that grows
    publish_lock     one run publishes at a time
    publication_log  which versions of all tables belong together
    captures_table   rows of the table `captures`
    delta_table      one table, through delta-rs
    removal          removes captures from the files of a table
    snapshot         Snapshot: the files of one version, for readers
    manifest         the captures in a version
    requests         several requests to a store at the same time
    local_copy       a snapshot of a store, copied to this machine
    old_format       lakes from before Delta tables

A lake is a folder, or an address in a store:

    <table>/_delta_log/        the log of the table: any reader of Delta tables reads it
    <table>/*.parquet          its files; all columns are in them
    captures/_delta_log/       also names the version of each table in every publication
    _staging/<run>/            files that are not published yet
    _followed/<capture>/       the state between two batches of a capture that grows

`DIR/<table>/*.parquet` are the current rows too, for a reader that only knows Parquet, as long as
no capture was replaced, dropped or compacted since the last `zenlake lake vacuum`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from zenlake.lake.publish.manifest import CaptureEntry, Manifest
from zenlake.lake.publish.snapshot import Snapshot

if TYPE_CHECKING:
    from zenlake.lake.publish.run import Run
    from zenlake.lake.publish.store import Store

__all__ = ["CaptureEntry", "Manifest", "Run", "Snapshot", "Store"]
_MODULES: Final = {"Run": "run", "Store": "store"}


def __getattr__(name: str) -> Any:
    """Imports names on first use: reading captures does not need delta-rs."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
