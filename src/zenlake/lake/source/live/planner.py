"""Planner: chooses where micro-batches begin and end, and which byte ranges their tasks read."""

from __future__ import annotations

import logging
import os
import time
from bisect import bisect_right
from collections.abc import Iterator
from itertools import zip_longest
from typing import Final, NamedTuple

from zenlake.capture.recordings import is_recording
from zenlake.errors import LocalError
from zenlake.lake.errors import LakeError
from zenlake.lake.plan.inputs import local_path
from zenlake.lake.source.live.capture_folder import CaptureFolder
from zenlake.lake.source.live.live_files import Cut, LiveFile, LiveFolder
from zenlake.lake.source.live.offsets import Offset
from zenlake.lake.source.live.recording_folder import RecordingFolder, sealed_or_not
from zenlake.lake.source.planning import cores
from zenlake.limits import STREAM_HANDSHAKE_SECONDS_MAX

_log: Final = logging.getLogger("zenlake.lake.source")

PIECE_BYTES_MAX: Final = 64 << 20
"""The size of a partition in bytes: by default that of a segment."""
PIECE_BYTES_MIN: Final = 8 << 20
"""A smaller range is not divided among the cores, unless `minPartitions` asks for it."""


class Piece(NamedTuple):
    """A range of one file that one task reads."""

    path: str
    name: str
    start: int
    stop: int
    first: int
    """The number of the last packet before it."""
    last: int | None
    """The number of its last packet; None if it ends with its file."""
    is_recording: bool
    state: bytes = b""
    """Blocks of state that replace all earlier packets of the segment."""
    earlier: tuple[str, ...] = ()
    """Rotated captures before this file, which are read for the state of connections."""
    with_earlier_declarations: bool = False
    """Whether declarations that are alive at its beginning become rows too."""


class Limits(NamedTuple):
    """The limits of one micro-batch."""

    bytes_max: int | None = None
    files_max: int | None = None


def open_folder(path: str) -> LiveFolder:
    """A recording, or else a folder of captures."""
    place = local_path(path)
    if not os.path.isdir(place):
        what = "is a file" if os.path.exists(place) else "does not exist"
        raise LocalError(f"{path} {what}: a stream follows a folder (a recording, or captures)")
    if is_recording(place):
        return RecordingFolder(place, path)
    folder = CaptureFolder(place, path)
    # In an empty folder a capture may be started later.
    if not folder.files() and os.listdir(place):
        raise LocalError(f"{path} is no recording and has no captures (*.pcap, *.pcapng)")
    return folder


class Planner:
    """Chooses offsets; it has no state that a restart would need."""

    def __init__(self, folder: LiveFolder, fails_on_loss: bool) -> None:
        self._folder = folder
        self._fails_on_loss = fails_on_loss
        self.is_recording = folder.recording is not None
        self._latest: Offset | None = None
        """The last known end: files need not be read again before it."""
        self._lost: set[str] = set()
        """Offsets whose loss was reported."""

    def earliest(self) -> Offset:
        files = self._folder.files()
        return self._start_of(files[0]) if files else self._offset("", 0, 0)

    def latest(self) -> Offset:
        files = self._folder.files()
        if not files:
            return self.earliest()
        # All files before the last one are complete.
        last = files[-1]
        if self._latest is None or self._latest.segment != last.name:
            self._latest = self._start_of(last)
        self._latest = self.advance(self._latest, Limits())
        return self._latest

    def at_time(self, time_ns: int) -> Offset:
        """The offset of the first packet that is not older; the end if all packets are."""
        files = self._folder.files()
        if not files:
            return self.earliest()
        before = self._start_of(files[0])
        for file, after in zip_longest(files, files[1:]):
            if after is not None and self._first_ns(after) < time_ns:
                continue
            before = self._start_of(file)
            for cut in self._folder.cuts(file, 0, file.packets_before):
                if cut.time_ns >= time_ns:
                    return before
                before = self._offset(file.name, cut.position, cut.packet)
        return before

    def _first_ns(self, file: LiveFile) -> int:
        first = next(self._folder.cuts(file, 0, file.packets_before), None)
        return 1 << 63 if first is None or not first.time_ns else first.time_ns

    def check(self, offset: Offset) -> Offset:
        """Refuses an offset of a user or a checkpoint that cannot be one of this folder."""
        if offset.recording is not None and offset.recording != self._folder.recording:
            raise LocalError(
                f"the offset belongs to the recording {offset.recording[:64]!a}, and "
                f"{self._folder.capture} is {self._folder.recording or 'no recording'}: "
                "a checkpoint cannot be used for another folder"
            )
        if self.is_recording and offset.segment and not offset.segment.isdecimal():
            raise LocalError(f"{offset.segment!a} is no segment of {self._folder.capture}")
        return offset

    def complete(self, offset: Offset) -> Offset:
        """Adds the packet number to an offset that a user wrote."""
        file = next((one for one in self._folder.files() if one.name == offset.segment), None)
        if file is None:
            raise LocalError(f"{self._folder.capture} has no {offset.segment!a} to start from")
        if not offset.position:
            return self._start_of(file)
        for cut in self._folder.cuts(file, 0, file.packets_before):
            if cut.position == offset.position:
                return self._offset(file.name, cut.position, cut.packet)
            if cut.position > offset.position:
                break
        raise LocalError(
            f"position {offset.position} of {offset.segment} is not the end of a batch or record"
        )

    def advance(self, start: Offset, limits: Limits, mark: Offset | None = None) -> Offset:
        """The end of the next micro-batch; `start` if nothing is new.

        A single block may exceed the byte limit, because the stream could not continue otherwise.
        """
        found = quiet = start = start.plain()
        last_ns = 0
        used_bytes = used_files = 0
        files = self._folder.files()
        for file, position, packet in self._rest(files, start):
            if limits.files_max is not None and used_files >= limits.files_max:
                break
            if mark is not None and self._begins_after(mark, file):
                break
            stop_at = mark.position if mark is not None and mark.segment == file.name else None
            is_used = False
            cuts = self._folder.cuts(file, position, packet)
            if stop_at is None and limits == Limits():
                # Without limits, only the last file must be read here.
                whole = self._folder.end_of(file, files)
                cuts = cuts if whole is None else iter((whole,))
            for cut in cuts:
                if stop_at is not None and cut.position > stop_at:
                    break
                size = used_bytes + cut.position - position
                if limits.bytes_max is not None and size > limits.bytes_max and found != start:
                    return quiet if quiet != start else found
                found = self._offset(file.name, cut.position, cut.packet)
                if cut.is_quiet:
                    quiet = found
                last_ns = cut.time_ns
                is_used = is_used or cut.position > position
            used_bytes += found.position - position if found.segment == file.name else 0
            used_files += is_used
        # The batch ends before sessions that are being opened, unless it would be empty.
        is_fresh = abs(time.time_ns() - last_ns) < STREAM_HANDSHAKE_SECONDS_MAX * 1_000_000_000
        return quiet if is_fresh else found

    def pieces(self, start: Offset, end: Offset, count_min: int) -> list[Piece]:
        """The ranges between two offsets, each in one file."""
        files = self._folder.files()
        chosen: list[tuple[LiveFile, Cut, int | None]] = []
        size = 0
        for file, position, packet in self._rest(files, start):
            if self._begins_after(end, file):
                break
            stop_at = end.position if end.segment == file.name else None
            size += (_size_of(file) if stop_at is None else stop_at) - position
            chosen.append((file, Cut(position, packet, 0, True), stop_at))
        piece_bytes = min(PIECE_BYTES_MAX, max(PIECE_BYTES_MIN, -(-size // cores())))
        piece_bytes = max(1, min(piece_bytes, -(-size // count_min)))
        return [
            piece
            for file, begin, stop_at in chosen
            for piece in self._divide(
                file,
                self._cuts_between(file, begin, stop_at, files, piece_bytes),
                files,
                piece_bytes,
            )
        ]

    def _cuts_between(
        self,
        file: LiveFile,
        begin: Cut,
        stop_at: int | None,
        files: list[LiveFile],
        piece_bytes: int,
    ) -> list[Cut]:
        """The cuts at which a range of one file may be divided, including its beginning and end."""
        whole = self._folder.end_of(file, files)
        is_asked = whole is not None and stop_at in (None, whole.position)
        if whole is not None and is_asked and whole.position - begin.position <= piece_bytes:
            return [begin, whole]
        cuts = [begin]
        for cut in self._folder.cuts(file, begin.position, begin.packet):
            if stop_at is not None and cut.position > stop_at:
                break
            cuts.append(cut)
        if stop_at is not None and cuts[-1].position != stop_at:
            raise LakeError(
                f"{file.name} ends at byte {cuts[-1].position}, before the offset {stop_at} of "
                "a batch that was planned: was it replaced?",
                self._folder.capture,
            )
        return cuts

    def _divide(
        self, file: LiveFile, cuts: list[Cut], files: list[LiveFile], piece_bytes: int
    ) -> Iterator[Piece]:
        begin = cuts[0]
        earlier: tuple[str, ...] = ()
        if not self.is_recording:
            # Captures are read one after the other (`CaptureReader`).
            piece_bytes = 1 << 62
            earlier = tuple(one.path for one in files[: files.index(file)])
        quiet = [cut for cut in cuts if cut.is_quiet] or [cuts[-1]]
        if quiet[-1].position != cuts[-1].position:
            quiet.append(cuts[-1])
        places = [cut.position for cut in quiet]
        while begin.position < cuts[-1].position:
            target = begin.position + piece_bytes
            index = max(bisect_right(places, target) - 1, bisect_right(places, begin.position))
            cut = quiet[index]
            # The rest is too small for another task.
            if cuts[-1].position - cut.position < piece_bytes // 8:
                cut = cuts[-1]
            is_end = file.is_complete and cut is cuts[-1] and not self.is_recording
            yield Piece(
                path=file.path,
                name=file.name,
                start=begin.position,
                stop=cut.position,
                first=begin.packet,
                last=None if is_end and _is_whole(file, cut) else cut.packet,
                is_recording=self.is_recording,
                state=self._folder.state_at(file, begin.position) if begin.position else b"",
                earlier=earlier,
            )
            begin = cut

    def _rest(self, files: list[LiveFile], start: Offset) -> Iterator[tuple[LiveFile, int, int]]:
        """Files from an offset on, each with the position and packet to continue from."""
        self.check(start)
        if not start.segment:
            yield from ((file, 0, file.packets_before) for file in files)
            return
        place = next((i for i, file in enumerate(files) if file.name == start.segment), None)
        if place is not None:
            file = files[place]
            packet = start.packet if start.packet is not None else self.complete(start).packet
            self._check_size(file, start)
            yield file, start.position, packet or 0
            later = files[place + 1 :]
        else:
            later = self._later(files, start)
            self._report_loss(start, later)
        for number, file in enumerate(later):
            if number or place is not None:
                self._check_next(files[files.index(file) - 1], file)
            yield file, 0, file.packets_before

    def _check_next(self, before: LiveFile, file: LiveFile) -> None:
        """Checks that segments are numbered without gaps."""
        if self.is_recording and int(file.name) != int(before.name) + 1:
            missing = Offset(f"{int(before.name) + 1:08}", 0)
            self._report_loss(missing, [file])

    def _check_size(self, file: LiveFile, start: Offset) -> None:
        if not self.is_recording and file.path.endswith((".gz", ".zst")):
            return
        try:
            size = os.path.getsize(file.path)
        except FileNotFoundError:
            # The file was just sealed or removed.
            return
        if start.position > size:
            raise LakeError(
                f"{file.name} has {size} bytes, and the offset is {start.position}: it was replaced"
                " by another file, or the checkpoint belongs to another folder",
                self._folder.capture,
            )

    def _later(self, files: list[LiveFile], start: Offset) -> list[LiveFile]:
        if self.is_recording:
            return [file for file in files if int(file.name) > int(start.segment)]
        return files

    def _report_loss(self, start: Offset, later: list[LiveFile]) -> None:
        """Reports that a file that a query was about to read is missing."""
        if self.is_recording:
            if later and later[0].packets_before == start.packet:
                # The missing segment was read to its end.
                return
            if not later:
                lost = f"segments from {start.segment} on are gone, and no newer one exists"
            else:
                until = later[0].packets_before
                since = "" if start.packet is None else f"packets {start.packet + 1} to {until}, "
                lost = f"{since}segments {start.segment} to {int(later[0].name) - 1:08} are gone"
        else:
            lost = f"{start.segment}, from byte {start.position} on, is gone"
        text = f"{lost}, which this query had not read to the end"
        if self._fails_on_loss or lost not in self._lost:
            self._lost.add(lost)
            report_loss(text, self._folder.capture, self._fails_on_loss)

    def _begins_after(self, end: Offset, file: LiveFile) -> bool:
        """Whether a file begins after an offset."""
        if not end.segment:
            return True
        if self.is_recording:
            return int(file.name) > int(end.segment)
        names = [one.name for one in self._folder.files()]
        return end.segment in names and names.index(file.name) > names.index(end.segment)

    def _start_of(self, file: LiveFile) -> Offset:
        return self._offset(file.name, 0, file.packets_before)

    def _offset(self, name: str, position: int, packet: int) -> Offset:
        return Offset(name, position, packet, self._folder.recording)


def report_loss(text: str, capture: str, fails_on_loss: bool) -> None:
    if fails_on_loss:
        raise LakeError(f"{text} (option failOnDataLoss=false continues after them)", capture)
    _log.warning("%s: %s; continuing after them", capture, text)


def _size_of(file: LiveFile) -> int:
    try:
        return os.path.getsize(sealed_or_not(file.path))
    except OSError:
        return 0


def _is_whole(file: LiveFile, cut: Cut) -> bool:
    try:
        return cut.position >= os.path.getsize(file.path)
    except OSError:
        return False
