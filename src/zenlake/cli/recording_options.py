"""Options of commands that record: size and retention of segments, keys that are left out."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Final

from zenlake.errors import LocalError

if TYPE_CHECKING:
    from zenlake.api.config.config import Config

_UNITS: Final = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_PERIODS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_OPTIONS: Final = (
    *("exclude", "drop_payload", "segment_bytes", "segment_seconds", "keep_bytes", "keep_seconds"),
)
"""The options by their names in `args` and in the configuration."""


def add_recording_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--exclude",
        metavar="KEY",
        action="append",
        help="do not record anything about these keys, a key expression; repeatable",
    )
    add(
        "--drop-payload",
        metavar="KEY",
        action="append",
        help="record these keys without payloads and attachments; repeatable",
    )
    add("--segment-bytes", metavar="SIZE", type=size, help="size of a segment; default 64M")
    add("--segment-seconds", metavar="TIME", type=period, help="time of a segment; default 60s")
    add("--keep-bytes", metavar="SIZE", type=size, help="delete old segments beyond this size")
    add("--keep-seconds", metavar="TIME", type=period, help="delete segments that are older")


def set_recording(config: Config, args: argparse.Namespace, path: str) -> None:
    """Set the configuration keys of a recording from the options that are set."""
    given = {"path": path, **{name: getattr(args, name) for name in _OPTIONS}}
    for name, value in given.items():
        if value is not None:
            config.insert_json5(f"recording/{name}", json.dumps(value))


def refuse_without_path(args: argparse.Namespace, option: str) -> None:
    """Refuse options of a recording if `option`, which names its folder, is missing."""
    for name in _OPTIONS:
        if getattr(args, name) is not None:
            raise LocalError(f"--{name.replace('_', '-')} needs {option}")


def size(text: str) -> int:
    """A number of bytes, such as 1000000, 64M or 1G."""
    return int(_amount(text, _UNITS, "a size such as 64M or 1000000"))


def period(text: str) -> float:
    """A number of seconds, such as 30, 10m or 7d."""
    return _amount(text, _PERIODS, "a time such as 30, 10m or 7d")


def _amount(text: str, units: dict[str, int], expected: str) -> float:
    unit = units.get(text[-1:].lower())
    try:
        value = float(text if unit is None else text[:-1]) * (unit or 1)
    except ValueError:
        value = 0.0
    if not 0 < value < 1 << 62:
        raise argparse.ArgumentTypeError(f"{text!r} is not {expected}")
    return value
