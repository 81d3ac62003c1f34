"""GrowingSegment: one segment while it is written.

The file is named `NNNNNNNN.pcapng.part` until it is complete; then it is renamed. A write
adds all its blocks or none: the remains of a failed write are cut off before the next write.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress

from zenlake.capture.recordings import GROWING_SUFFIX, segment_name
from zenlake.capture.segment_format import (
    STATE,
    WIRE,
    interface_block,
    packet_block,
    section_block,
    statistics_block,
)
from zenlake.recording.files import Files
from zenlake.recording.state_tracker import StatePacket


def head_blocks(
    recording: str,
    number: int,
    packets_before: int,
    state: list[StatePacket],
    forgotten: int,
    is_redacted: bool = False,
) -> bytes:
    """The first blocks of a segment: section, interfaces, state."""
    comment: dict[str, object] = {"recording": recording, "segment": number}
    if forgotten:
        comment["forgotten"] = forgotten
    blocks = [
        section_block(json.dumps(comment), "zenlake", packets_before, is_redacted),
        interface_block(WIRE, "wire"),
        interface_block(STATE, "state"),
    ]
    blocks += [packet_block(STATE, one.time_ns, one.data, one.flags, 0) for one in state]
    return b"".join(blocks)


class GrowingSegment:
    """A segment that is being written. Methods raise OSError as the system does."""

    def __init__(self, folder: str, number: int, files: Files) -> None:
        self.number = number
        self._folder = folder
        self._files = files
        self.path = os.path.join(folder, segment_name(number))
        self.growing_path = self.path + GROWING_SUFFIX
        self._fd = files.create(self.growing_path)
        self.size = 0
        """The size of all blocks that were written completely."""
        self.synced_size = 0
        """How many bytes of `size` are on the disk."""
        self._is_torn = False

    def write(self, pieces: list[bytes], size: int) -> None:
        """Append blocks; `size` is their total length."""
        if self._is_torn:
            self._files.truncate(self._fd, self.size)
            self._is_torn = False
        try:
            self._files.write(self._fd, pieces, size)
        except OSError:
            self._is_torn = True
            with suppress(OSError):
                self._files.truncate(self._fd, self.size)
                self._is_torn = False
            raise
        self.size += size

    def sync(self) -> None:
        """Wait until everything that was written is on the disk."""
        self._files.sync(self._fd)
        self.synced_size = self.size

    def seal(self, time_ns: int, dropped: int) -> None:
        """Write the last block and rename the file to its final name."""
        block = statistics_block(time_ns, dropped)
        self.write([block], len(block))
        self.sync()
        self._files.rename(self.growing_path, self.path)
        self._files.sync_folder(self._folder)
        self.close()

    def close(self) -> None:
        """Close the file without sealing it."""
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            with suppress(OSError):
                self._files.close(fd)

    def abandon(self) -> None:
        """Seal the file without syncing, if possible; its last blocks may not be on the disk."""
        self.close()
        with suppress(OSError):
            self._files.rename(self.growing_path, self.path)

    def is_missing(self) -> bool:
        """Whether the file was removed while it was written."""
        return not os.path.exists(self.growing_path)
