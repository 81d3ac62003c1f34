"""The log of `zenlake router` and `zenlake record`: lines of text, or JSON."""

from __future__ import annotations

import json
import logging
import os
from datetime import UTC, datetime
from typing import TextIO

from zenlake.api.logs import show_logs


def start_log(
    filters: str | None, is_json: bool, default: str = "info", stream: TextIO | None = None
) -> None:
    """Filters of the option, else of RUST_LOG, else the default; on standard output by default."""
    logging.raiseExceptions = False  # the router must survive a closed pipe
    text = filters if filters is not None else os.environ.get("RUST_LOG") or default
    show_logs(text, _JsonLines() if is_json else _Lines(), stream)


def _time_of(record: logging.LogRecord) -> str:
    made = datetime.fromtimestamp(record.created, UTC)
    return made.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = f"{_time_of(record)} {record.levelname:7} {record.name}: {record.getMessage()}"
        if record.exc_info:
            line = f"{line}\n{self.formatException(record.exc_info)}"
        return line


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "time": _time_of(record),
            "level": record.levelname.lower(),
            "target": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return json.dumps(entry)
