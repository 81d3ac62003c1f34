"""Imports delta-rs with a silent log, unless RUST_LOG is set.

delta-rs also raises the errors that it logs, and commands print them in one line. It reads RUST_LOG
once, during the import.
"""

from __future__ import annotations

import os

_IS_SET = "RUST_LOG" in os.environ
os.environ.setdefault("RUST_LOG", "off")
try:
    from deltalake import DeltaTable, Schema, WriterProperties
    from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
    from deltalake.transaction import (
        AddAction,
        CommitProperties,
        PostCommitHookProperties,
        RemoveAction,
        Transaction,
        create_table_with_add_actions,
    )
finally:
    if not _IS_SET:
        # Other libraries read the variable too.
        del os.environ["RUST_LOG"]

__all__ = [
    "AddAction",
    "CommitFailedError",
    "CommitProperties",
    "DeltaError",
    "DeltaTable",
    "PostCommitHookProperties",
    "RemoveAction",
    "Schema",
    "TableNotFoundError",
    "Transaction",
    "WriterProperties",
    "create_table_with_add_actions",
]
