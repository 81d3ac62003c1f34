"""Values of tables as readable text and as JSON."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any, Final

from zenlake.cli.output import safe

CELL_CHARACTERS_MAX: Final = 60
_NULL: Final = "NULL"


def cell_text(value: Any, characters_max: int | None = CELL_CHARACTERS_MAX) -> str:
    """Readable text: control characters escaped, shortened to a maximum length."""
    if value is None:
        return _NULL
    if isinstance(value, (bytes, bytearray)):
        text = _bytes_text(bytes(value), characters_max)
    elif isinstance(value, bool):
        text = str(value).lower()
    elif isinstance(value, (dict, list, tuple)):
        text = str(cell_json(value))
    elif isinstance(value, str):
        # Shorten first, so that only the shown part is escaped.
        text = value if characters_max is None else value[: characters_max + 1]
    else:
        text = str(value)
    text = safe(text)
    if characters_max is not None and len(text) > characters_max:
        return text[: characters_max - 1] + "…"
    return text


def _bytes_text(value: bytes, characters_max: int | None) -> str:
    """Quoted text if the bytes are printable text, else hexadecimal digits."""
    part = value if characters_max is None else value[: characters_max * 4]
    try:
        # The cut may go through a character.
        text = part.decode("utf-8", "strict" if len(part) == len(value) else "ignore")
    except UnicodeDecodeError:
        return f"0x{part.hex()}"
    return f'"{text}"' if text.isprintable() else f"0x{part.hex()}"


def cell_json(value: Any) -> Any:
    """A JSON value: bytes in hexadecimal, times in ISO 8601, other types as in JSON."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    if isinstance(value, float):
        # JSON cannot represent NaN and infinity.
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, (date, datetime, time)):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(key): cell_json(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [cell_json(inner) for inner in value]
    return str(value)


def time_text(ns: int | None) -> str:
    """UTC to the millisecond."""
    if ns is None:
        return "-"
    seconds = datetime.fromtimestamp(ns // 1_000_000_000, UTC)
    return f"{seconds:%Y-%m-%dT%H:%M:%S}.{ns // 1_000_000 % 1000:03}Z"
