"""Files that grow, as the planning process sees them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Final, NamedTuple, Protocol

WINDOW_BYTES: Final = 4 << 20
"""The number of bytes that one read requests."""


_COMPRESSION: Final = re.compile(r"\.(?:gz|zst)$")


def name_of_capture(path: str) -> str:
    """The name of a rotated capture without the suffix of a compression."""
    return _COMPRESSION.sub("", os.path.basename(path))


def compressed_or_not(path: str) -> str | None:
    """The path of a capture, which may have been compressed since it was listed."""
    names = (path, f"{path}.gz", f"{path}.zst")
    return next((name for name in names if os.path.exists(name)), None)


class LiveFile(NamedTuple):
    """A segment of a recording, or a rotated capture."""

    name: str
    """The name in offsets, without the suffix of an unfinished segment or of compression."""
    path: str
    packets_before: int
    """The number of packets before the file; 0 for a rotated capture, which has its own count."""
    is_complete: bool
    """Whether nothing will be appended, because the file was sealed or a newer one exists."""


class Cut(NamedTuple):
    """A position at which a micro-batch may end."""

    position: int
    packet: int
    """The number of the last packet before it."""
    time_ns: int
    """The time of that packet."""
    is_quiet: bool
    """Whether no session is being opened: the rows of a handshake are complete only after it."""


class LiveFolder(Protocol):
    """A folder that is followed."""

    capture: str
    """The folder as given."""
    recording: str | None
    """The id of the recording, which offsets contain."""

    def files(self) -> list[LiveFile]:
        """Files in the order of their packets."""
        ...

    def cuts(self, file: LiveFile, position: int, packet: int) -> Iterator[Cut]:
        """The cuts after a position, which is 0 or a cut; the end of a complete file is one."""
        ...

    def end_of(self, file: LiveFile, files: list[LiveFile]) -> Cut | None:
        """The last cut of a complete file, if it is known without reading the file."""
        ...

    def state_at(self, file: LiveFile, position: int) -> bytes:
        """Blocks of state with which a reader can begin at a position of a segment."""
        ...


class FileWindow:
    """A part of a file: `buffer` has the bytes from offset `base` on."""

    def __init__(self, path: str, position: int) -> None:
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115  # until `close`
        self.base = position
        self.buffer = b""

    def refill(self, position: int) -> bool:
        """Drops bytes before a position and reads more; returns False at the end of the file."""
        kept = self.buffer[position - self.base :]
        self._file.seek(position + len(kept))
        added = self._file.read(WINDOW_BYTES)
        self.buffer = kept + added
        self.base = position
        return bool(added)

    def close(self) -> None:
        self._file.close()
