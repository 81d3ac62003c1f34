"""The progress line of a pipeline."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Final, TextIO

_SECONDS: Final = 0.25
_BAR_CHARACTERS: Final = 24
_CLEAR: Final = "\r\x1b[2K"
_BYTES_A_MESSAGE: Final = 200
"""The assumed size of a message in a capture."""
_WORDS: Final = {
    "survey": "surveying the captures",
    "read": "reading",
    "captures": "reading",
    "derive": "deriving tables",
    "publish": "publishing",
}


class ProgressLine:
    """A line that is updated on a terminal; not shown elsewhere."""

    def __init__(self, stream: TextIO, is_silent: bool) -> None:
        self._stream = stream
        self._is_silent = is_silent or not stream.isatty()
        self._text = ""
        self._place: Path | None = None
        self._size = 0
        self._since = time.monotonic()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._show, daemon=True)
        if not self._is_silent:
            self._thread.start()

    def step(self, text: str) -> None:
        self._text, self._place, self._since = text, None, time.monotonic()

    def pipeline_step(self, name: str, place: Path, size: int) -> None:
        """The pipeline begins a step; tasks write their progress to files in `place`."""
        self.step(_WORDS.get(name, name))
        if name == "read":
            self._place, self._size = place, size

    def end(self) -> None:
        self._over.set()
        if not self._is_silent:
            self._thread.join()
            self._stream.write(_CLEAR)
            self._stream.flush()

    def _show(self) -> None:
        while not self._over.wait(_SECONDS):
            self._stream.write(_CLEAR + self.line())
            self._stream.flush()

    def line(self) -> str:
        seconds = time.monotonic() - self._since
        place = self._place
        if place is None:
            return f"{self._text} … {seconds:.0f} s"
        messages = _messages_read(place)
        rate = messages / seconds if seconds else 0.0
        # The number of messages is unknown: it is estimated from the size of the files.
        likely = max(self._size / _BYTES_A_MESSAGE, messages * 1.02, 1)
        share = min(messages / likely, 1.0)
        bar = ("█" * round(share * _BAR_CHARACTERS)).ljust(_BAR_CHARACTERS, "·")
        left = f", about {(likely - messages) / rate:.0f} s left" if rate else ""
        return f"{self._text} {bar} {messages:,} messages, {rate:,.0f}/s{left}"


def _messages_read(place: Path) -> int:
    total = 0
    for path in place.glob("progress-*"):
        try:
            total += int(path.read_text())
        except (OSError, ValueError):
            continue  # a task is writing it
    return total
