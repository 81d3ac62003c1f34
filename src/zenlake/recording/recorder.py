"""Recorder: the tap of a node; its own thread writes the traffic of all links to a folder."""

from __future__ import annotations

import logging
import os
import threading
from contextlib import suppress
from time import monotonic, sleep, time_ns
from typing import Final

from zenlake.errors import RecordingError
from zenlake.recording.batch_queue import BatchQueue, LinkRecorder
from zenlake.recording.files import Files
from zenlake.recording.filter import BatchFilter
from zenlake.recording.folder import RecordingFolder, describe_error
from zenlake.recording.packet_headers import as_one_family, end_of_locator
from zenlake.recording.redaction import Redactor
from zenlake.recording.segment_writer import SegmentWriter
from zenlake.recording.settings import RecordingSettings

log = logging.getLogger("zenlake.recording")

_GATHER_S: Final = 0.02
_POP_BYTES: Final = 4 << 20
_CLOSE_S: Final = 30.0
_NICENESS: Final = 19
_RESTS: Final = 8.0
_REST_S_MAX: Final = 0.5


class Recorder:
    """Records from its construction on (`node.tap.Tap`); RecordingError if it cannot."""

    def __init__(
        self,
        settings: RecordingSettings,
        queue: BatchQueue | None = None,
        files: Files | None = None,
    ) -> None:
        self.settings = settings
        self._queue = BatchQueue() if queue is None else queue
        self._folder = RecordingFolder(settings.path, files)
        self.filter: BatchFilter = Redactor(settings.rules)
        try:
            scan = self._folder.recover()
            self._writer = SegmentWriter(self._folder, settings, self._queue, self.filter)
            self._writer.start(scan, time_ns())
        except OSError as error:
            self._folder.close()
            raise RecordingError(settings.path, describe_error(error)) from None
        except BaseException:
            self._folder.close()
            raise
        self._failure = ""
        self._thread = threading.Thread(target=self._run, name="zenlake recorder", daemon=True)
        self._thread.start()

    def open(self, src: str, dst: str, is_stream: bool, is_accepted: bool) -> LinkRecorder:
        """A link between this end and the other one, both locators."""
        own, other = as_one_family(end_of_locator(src), end_of_locator(dst))
        ends = (other, own) if is_accepted else (own, other)
        return LinkRecorder(self._queue, ends, is_stream, 1 if is_accepted else 0)

    def open_group(self, source: str, group: str) -> LinkRecorder:
        """A sender in a multicast group."""
        ends = as_one_family(end_of_locator(source), end_of_locator(group))
        return LinkRecorder(self._queue, ends, False, 1, is_group=True)

    def scouting(self, source: str, destination: str, datagram: bytes) -> None:
        """A datagram that may be SCOUT or HELLO."""
        ends = as_one_family(end_of_locator(source), end_of_locator(destination))
        LinkRecorder(self._queue, ends, False, 1, is_scouting=True).received(datagram, False)

    @property
    def written_packets(self) -> int:
        """The number of the last packet in the recording."""
        return self._writer.packets

    @property
    def written_bytes(self) -> int:
        return self._writer.written_bytes

    @property
    def dropped_packets(self) -> int:
        """Packets of this recording that are not in it: no room in the queue, or on the disk."""
        return self._writer.dropped

    @property
    def failure(self) -> str:
        """Why nothing more is recorded; empty while the recording goes on."""
        return self._failure or self._writer.failure

    def _run(self) -> None:
        queue, writer = self._queue, self._writer
        with suppress(OSError, AttributeError):
            # The node's own threads have priority where processors are scarce.
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
        dropped = 0
        try:
            while True:
                queue.wait(writer.next_deadline() - monotonic(), _GATHER_S)
                entries = queue.pop(_POP_BYTES)
                if not entries and queue.is_closed:
                    writer.close()
                    return
                begun = monotonic()
                writer.write(entries)
                del entries
                writer.tick()
                if queue.dropped_packets != dropped:
                    # The disk is slower than the traffic: leave most of the time to the node.
                    dropped = queue.dropped_packets
                    sleep(min(_RESTS * (monotonic() - begun), _REST_S_MAX))
        except Exception:
            # The node continues; further packets are counted as dropped.
            log.exception("recording to %s ends after an error of zenlake", self.settings.path)
            self._failure = "an error of zenlake"
            queue.close()

    def close(self) -> None:
        """Write what is queued and seal the last segment."""
        self._queue.close()
        self._thread.join(_CLOSE_S)
        self._folder.close()
