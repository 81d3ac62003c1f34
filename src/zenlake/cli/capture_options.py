"""Options and checks of the commands that read captures of this machine message by message."""

from __future__ import annotations

import argparse
import gc
import os
import re
from collections.abc import Iterable
from typing import Final

from zenlake.errors import LocalError

CAPTURE_ENDINGS: Final = (".pcap", ".pcapng", ".cap", ".gz", ".zst")
"""By which commands tell a capture from a query or a lake, if there is no such local file."""

# `lake.address` knows the schemes. It is not imported: `cli.decode`, which is compiled, uses this.
_ADDRESS: Final = re.compile(r"(?!file:)[a-z][a-z0-9+.-]+://", re.IGNORECASE)

_ALLOCATIONS_BETWEEN_COLLECTIONS: Final = 50_000


def collect_garbage_less_often() -> None:
    """Messages, rows and modules form hardly any reference cycles: searching for them takes 10% of
    the time."""
    gc.set_threshold(_ALLOCATIONS_BETWEEN_COLLECTIONS)


def add_port_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--port", type=int, action="append", default=[], metavar="N", help="a port of Zenoh"
    )


def check_ports(ports: list[int]) -> None:
    for port in ports:
        if not 0 < port < 65_536:
            raise LocalError(f"--port must be 1 to 65535, not {port}")


def refuse_stored(command: str, paths: Iterable[str]) -> None:
    """LocalError that names the commands which read captures in a store."""
    for path in paths:
        if _ADDRESS.match(path) and not os.path.exists(path):
            raise LocalError(
                f"{path}: zenlake {command} reads captures of this machine: copy it, or use "
                "zenlake sql, report or pipeline, which read captures in a store"
            )
