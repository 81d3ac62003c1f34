"""`Printer`: prints the selected events of a capture as text or as JSON."""

from __future__ import annotations

import json
import sys

from zenlake.cli.decode.json_lines import json_line
from zenlake.cli.decode.line import LineFormat
from zenlake.cli.decode.verbose import field_lines, hex_lines
from zenlake.cli.output import Lines, has_colour, safe
from zenlake.trace.events import MessageSeen, TraceEvent


class Printer:
    def __init__(
        self,
        lines: Lines,
        time: str = "relative",
        as_json: bool = False,
        verbose: bool = False,
        hex: bool = False,
    ) -> None:
        self._lines = lines
        self._time = time
        self._as_json = as_json
        self._verbose = verbose
        self._hex = hex
        self._file = ""
        self._format: LineFormat | None = None

    def begin(self, file: str, with_header: bool) -> None:
        """Start a capture."""
        self._file = file
        self._format = None
        if with_header and not self._as_json:
            self._lines.add(f"== {safe(file)}")

    def event(self, event: TraceEvent, first_ns: int | None, note: str = "") -> None:
        """`first_ns` is the time of the first packet."""
        if self._as_json:
            self._lines.add(json_line(event, self._file, note, self._verbose))
            return
        if self._format is None:
            start = event.time_ns if first_ns is None else first_ns
            self._format = LineFormat(start, self._time, has_colour(sys.stdout))
        self._lines.add(self._format.line(event, note))
        if isinstance(event, MessageSeen):
            if self._verbose:
                self._lines.add_all(field_lines(event))
            if self._hex:
                self._lines.add_all(hex_lines(event))

    def sentence(self, text: str) -> None:
        if not self._as_json:
            self._lines.add(text)
        elif text:
            found = {"file": self._file, "event": "note", "note": text.strip()}
            self._lines.add(json.dumps(found))
