"""Captures in a store, for commands that read only files of this machine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from zenlake.errors import LocalError
from zenlake.lake.address import is_stored

CAPTURE_ENDINGS: Final = (".pcap", ".pcapng", ".cap", ".gz", ".zst")
"""By which commands tell a capture from a query or a lake, if there is no such local file."""


def refuse_stored(command: str, paths: Iterable[str]) -> None:
    """LocalError that names the commands which read captures in a store."""
    for path in paths:
        if is_stored(path):
            raise LocalError(
                f"{path}: zenlake {command} reads captures of this machine: copy it, or use "
                "zenlake sql, report or pipeline, which read captures in a store"
            )
