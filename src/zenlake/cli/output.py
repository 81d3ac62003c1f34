"""What commands write: colour only on a terminal, JSON one object a line."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, TextIO

_STYLES = {"bold": "1", "dim": "2", "name": "36", "error": "31;1"}


def painter(stream: TextIO) -> Any:
    """A function that colours text for `stream`, or leaves it as it is."""
    if not stream.isatty() or os.environ.get("NO_COLOR"):
        return lambda text, style: text

    def paint(text: str, style: str) -> str:
        code = _STYLES.get(style)
        return f"\x1b[{code}m{text}\x1b[0m" if code else text

    return paint


def print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=True))


def complain(text: str) -> None:
    """One line on standard error."""
    print(f"zenlake: {text}", file=sys.stderr)
