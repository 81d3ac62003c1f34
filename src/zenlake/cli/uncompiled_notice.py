"""The notice that an install is not compiled, and how much slower that is: one line on stderr.

Commands that are several times slower show it: `router`, and `decode`, `check` or `why` of large
captures. `sql`, `report` and `pipeline` do not, because Numba kernels read most of their traffic.
The notice is for a person who can reinstall, so it is shown on a terminal only, never with
`--json`, and once per user and version. A file in the cache folder records that; where it cannot
be written, the notice is not shown either.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Final

from zenlake import __version__
from zenlake._compiled import is_compiled
from zenlake.cache_folder import cache_folder
from zenlake.cli.output import print_error

NOTICE: Final = (
    "this install is not compiled: a node carries about 4 times fewer messages a second, and "
    "decoding takes about 5 times as long. To compile it, install a C compiler and the headers of "
    "Python, then zenlake again, with ZENLAKE_COMPILE=1 (shown once)"
)
LARGE_BYTES: Final = 32 << 20
"""Captures of fewer bytes are decoded within a few seconds anyway."""


def show_uncompiled_notice(args: argparse.Namespace) -> None:
    if getattr(args, "json", False) or not sys.stderr.isatty() or not _is_slow(args):
        return
    if not is_compiled() and _is_first_time():
        print_error(NOTICE)


def _is_slow(args: argparse.Namespace) -> bool:
    """Whether the command takes noticeably longer when it is not compiled."""
    if args.command == "router":
        return args.action is None
    if args.command not in ("decode", "check", "why"):
        return False
    paths: list[str] = args.inputs if args.command == "why" else args.files
    return sum(map(_file_bytes, paths)) >= LARGE_BYTES


def _file_bytes(path: str) -> int:
    try:
        return os.path.getsize(path)
    except (OSError, ValueError):
        return 0  # the command itself reports the error; standard input has no size


def _is_first_time() -> bool:
    folder = cache_folder()
    if folder is None:
        return False
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # O_EXCL: if two commands start at once, only one shows the notice.
        with open(folder / f"uncompiled-notice-{__version__}", "x"):
            return True
    except OSError:
        return False
