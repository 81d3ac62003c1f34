"""Captures in a store, for commands that read only files of this machine."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Final

from zenlake.errors import LocalError

CAPTURE_ENDINGS: Final = (".pcap", ".pcapng", ".cap", ".gz", ".zst")
"""By which commands tell a capture from a query or a lake, if there is no such local file."""

# `lake.address` knows the schemes. It is not imported: `cli.decode`, which is compiled, uses this.
_ADDRESS: Final = re.compile(r"(?!file:)[a-z][a-z0-9+.-]+://", re.IGNORECASE)


def refuse_stored(command: str, paths: Iterable[str]) -> None:
    """LocalError that names the commands which read captures in a store."""
    for path in paths:
        if _ADDRESS.match(path) and not os.path.exists(path):
            raise LocalError(
                f"{path}: zenlake {command} reads captures of this machine: copy it, or use "
                "zenlake sql, report or pipeline, which read captures in a store"
            )
