"""Logs on standard output, as eclipse-zenoh offers them; without, `logging` is up to the user."""

from __future__ import annotations

import logging
import os
import sys
from typing import Final

from zenlake.api.nothing import Nothing

_LEVELS: Final = {
    "off": logging.CRITICAL + 10,
    "error": logging.ERROR,
    "warn": logging.WARNING,
    "info": logging.INFO,
    "debug": logging.DEBUG,
    "trace": 5,
}
_ROOT: Final = logging.getLogger("zenlake")


def try_init_log_from_env() -> Nothing:
    """Show logs at the level that RUST_LOG names; nothing if it is not set."""
    wanted = os.environ.get("RUST_LOG")
    if wanted is not None:
        _show(wanted)


def init_log_from_env_or(level: str) -> Nothing:
    """The same, with a level for when RUST_LOG is not set."""
    _show(os.environ.get("RUST_LOG") or level)


def _show(wanted: str) -> None:
    """`debug`, or `zenoh=debug,other=info`: what is said of zenoh counts, or of everything."""
    level = logging.ERROR
    for part in wanted.split(","):
        name, equals, word = part.strip().rpartition("=")
        if not equals or name.partition("::")[0] in ("zenoh", "zenlake"):
            level = _LEVELS.get(word.strip().lower(), level)
    _ROOT.setLevel(level)
    if not _ROOT.handlers:
        handler = logging.StreamHandler(sys.stdout)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        _ROOT.addHandler(handler)
