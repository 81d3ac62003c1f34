"""Log messages on standard output, as in eclipse-zenoh. Without it the user configures `logging`.

Filters are those of RUST_LOG: `debug`, or `zenoh=info,zenoh_transport=trace`. Their targets are
modules of eclipse-zenoh; each logger of zenlake corresponds to some of them.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import Final, TextIO

from zenlake.api.unannotated import Unannotated

LOGGERS: Final = {
    "zenlake": "zenoh",
    "zenlake.admin": "zenoh::net::runtime::adminspace",
    "zenlake.config": "zenoh_config",
    "zenlake.handlers": "zenoh::api::handlers",
    "zenlake.lake.source": "zenlake::lake::source",
    "zenlake.node": "zenoh::net::runtime",
    "zenlake.recording": "zenlake::recording",
    "zenlake.router": "zenohd",
    "zenlake.session": "zenoh::api::session",
    "zenlake.sink": "zenlake::sink",
    "zenlake.transport": "zenoh_transport",
}
"""The loggers of zenlake, and the target that selects each in filters."""

_TRACE: Final = 5
_LEVELS: Final = {
    "off": logging.CRITICAL + 10,
    "error": logging.ERROR,
    "warn": logging.WARNING,
    "info": logging.INFO,
    "debug": logging.DEBUG,
    "trace": _TRACE,
}
_NUMBERS: Final = dict(zip("012345", _LEVELS, strict=True))
_ROOT: Final = logging.getLogger("zenlake")
_PLAIN: Final = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")


class _Filters:
    """Parsed filters: a default level, levels of targets, and the parts that are invalid."""

    def __init__(self, text: str) -> None:
        self.default: int | None = None
        self.targets: dict[str, int] = {}
        self.mistakes: list[str] = []
        for part in filter(None, (part.strip() for part in text.split(","))):
            self._read(part)

    def _read(self, part: str) -> None:
        target, equals, word = (piece.strip() for piece in part.rpartition("="))
        level = _level_of(word)
        if not equals and level is not None:
            self.default = level
        elif not equals and word.startswith(("zenoh", "zenlake")) and "[" not in word:
            self.targets[_normal(word)] = _TRACE
        elif target and level is not None and not any(mark in target for mark in "[]{}="):
            self.targets[_normal(target)] = level
        else:
            self.mistakes.append(part)

    @property
    def is_empty(self) -> bool:
        return self.default is None and not self.targets

    def level_of(self, logger: str) -> int:
        """The level of the longest target that covers the logger, or a lower one of its parts."""
        own = LOGGERS[logger]
        level = logging.ERROR if self.default is None else self.default
        for target in sorted(self.targets, key=len):
            if own.startswith(target) or logger.startswith(target):
                level = self.targets[target]
        parts = [level for target, level in self.targets.items() if target.startswith(f"{own}::")]
        return min(level, *parts) if parts else level


def try_init_log_from_env() -> Unannotated:
    """Show logs at the levels of RUST_LOG; do nothing if it is not set."""
    wanted = os.environ.get("RUST_LOG")
    if wanted is not None:
        _show(_Filters(wanted))


def init_log_from_env_or(level: str) -> Unannotated:
    """Show logs at the levels of RUST_LOG, or at `level` if it is not set."""
    filters = _Filters(os.environ.get("RUST_LOG") or level)
    if filters.is_empty:
        fallback = _Filters(level)
        fallback.mistakes = filters.mistakes
        filters = fallback
    _show(filters)


def show_logs(text: str, formatter: logging.Formatter, stream: TextIO | None = None) -> None:
    """Show logs at the levels of `text`, with a formatter of the caller.

    The stream is standard output by default, as of eclipse-zenoh.
    """
    _show(_Filters(text), formatter, stream)


def _show(
    filters: _Filters, formatter: logging.Formatter = _PLAIN, stream: TextIO | None = None
) -> None:
    if not _ROOT.handlers:
        handler = logging.StreamHandler(sys.stdout if stream is None else stream)
        handler.setFormatter(formatter)
        _ROOT.addHandler(handler)
    for name in LOGGERS:
        logging.getLogger(name).setLevel(filters.level_of(name))
    if filters.mistakes:
        text = (
            f"log filters ignored: {', '.join(map(repr, filters.mistakes))}; expected a level "
            f"({', '.join(_LEVELS)}) or target=level, such as zenoh_transport=debug"
        )
        # Shown at every level.
        _ROOT.handle(_ROOT.makeRecord("zenlake", logging.WARNING, __file__, 0, text, (), None))


def _level_of(word: str) -> int | None:
    return _LEVELS.get(_NUMBERS.get(word, word.lower()))


def _normal(target: str) -> str:
    """eclipse-zenoh has crates of links; in zenlake links log as part of the transport."""
    return target.replace("zenoh_link", "zenoh_transport::link", 1)
