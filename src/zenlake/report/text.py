"""Texts and bytes from captures, cut to the length that a page shows. The page escapes them."""

from __future__ import annotations

from typing import Any

from zenlake.report.bounds import PAYLOAD_BYTES_MAX, TEXT_CHARACTERS_MAX


def cut(text: str | None, characters_max: int = TEXT_CHARACTERS_MAX) -> str | None:
    if text is None or len(text) <= characters_max:
        return text
    return f"{text[:characters_max]}… ({len(text):,} characters)"


def preview(data: bytes | None, size: int | None = None) -> dict[str, Any] | None:
    """The beginning of a payload, as text if it is UTF-8, and its size."""
    if data is None:
        return None
    part = bytes(data[:PAYLOAD_BYTES_MAX])
    found: dict[str, Any] = {"size": len(data) if size is None else size}
    try:
        # The cut may go through a character.
        found["text"] = part.decode("utf-8", "strict" if found["size"] == len(part) else "ignore")
    except UnicodeDecodeError:
        found["hex"] = part.hex(" ")
    return found


def size(number: float) -> str:
    """Bytes with their unit."""
    for unit in ("B", "KB", "MB", "GB"):
        if number < 1000:
            digits = 0 if number >= 100 or unit == "B" else 1
            return f"{number:,.{digits}f} {unit}"
        number /= 1000
    return f"{number:,.1f} TB"
