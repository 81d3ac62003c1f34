"""GrowingReader: reads on in a recording that grows, and writes the new rows to files.

A trace is kept from one step to the next. The rows of a step are of two kinds: those that no later
packet changes, and those that the end of the capture would add (open sessions, incomplete batches,
...). To find the second kind the trace has to be finished, and after that it cannot read on. So
each step is written by a forked copy of the process, in which the trace is finished.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from zenlake.capture.packet import Packet
from zenlake.errors import LocalError, SegmentsDeletedError, ZenlakeError
from zenlake.lake.exact_reader.row_tables import drain_tables, new_rows
from zenlake.lake.exact_reader.violations import ViolationRecorder
from zenlake.lake.jobs import Result
from zenlake.lake.merge.read_task import OBJECTS_BETWEEN_COLLECTIONS, facts_of
from zenlake.lake.parquet.parquet_files import ParquetFiles
from zenlake.recording.cursor import Cursor
from zenlake.trace.rows.row_maker import RowMaker
from zenlake.trace.trace import Steps, from_packets

ROWS_MAX: Final = 400_000
"""Rows of one step, so that a long recording is published in parts."""
_SEGMENTS_NOTED: Final = 1_000
_PART_BYTES: Final = 4 << 20


class GrowingReader:
    """`read` reads on, `write` writes the rows since the last `write`."""

    def __init__(
        self,
        cursor: Cursor,
        capture: str,
        packets_done: int = 0,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        """Rows of the first `packets_done` packets are not written: the lake has them.

        `facts` are those about these packets, if the cursor does not begin with the first one.
        """
        self._cursor = cursor
        self._trace = from_packets(damage=cursor.skipped)
        self._rows = new_rows(capture)
        self._maker = RowMaker(self._trace, self._rows)
        self._violations = ViolationRecorder(self._rows, self._trace)
        self._waiting: list[Packet] = []
        self._passed = [(-1, cursor.position.segment)]
        """Numbers of packets and of segments, in which the cursor was after that packet."""
        self.number = 0
        """The number of the last packet that was read."""
        self.is_complete = False
        """Whether all packets were read that the recording had at that moment."""
        self.is_ended = False
        """Whether the recorder has closed the recording, and all of it was read."""
        # There are many rows and no cycles.
        gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, 50, 1_000)
        self._read_again(packets_done)
        if facts is not None:
            self._use_facts(facts)

    def _read_again(self, packets_done: int) -> None:
        """Brings the trace to the state that it had when these packets were written."""
        while self.number < packets_done:
            packets = self._next_packets()
            if not packets:
                cause = f"it ends at packet {self.number}, and the lake has {packets_done}"
                raise LocalError(f"the recording is another one, or was cut: {cause}")
            for index, packet in enumerate(packets):
                if packet.number > packets_done:
                    self._waiting = packets[index:]
                    break
                self._feed(packet)
            if len(self._rows) > ROWS_MAX:
                self._rows.pop_ready(False)
        self._rows.pop_ready(False)

    def _use_facts(self, facts: Mapping[str, Any]) -> None:
        trace = self._trace
        trace.packets, trace.first_ns = facts["packets"], facts["first_ns"]
        trace.undecoded = dict(facts["undecoded"])
        # The counts of damage in segments that were read again are among these.
        self._cursor.skipped.clear()
        trace.skipped.clear()
        for reason, (count, size) in facts["skipped"].items():
            trace.skipped.add(reason, size, count)

    def read(self, rows_max: int = ROWS_MAX) -> None:
        """Reads on until there are many rows, or no more packets."""
        self.is_complete = self.is_ended = False
        # Looked at first: a recorder that ends while this reads may have added packets.
        is_ended = self._cursor.is_ended
        while len(self._rows) < rows_max:
            packets = self._next_packets()
            if not packets:
                self.is_complete, self.is_ended = True, is_ended
                return
            for packet in packets:
                self._feed(packet)

    def _next_packets(self) -> list[Packet]:
        packets, self._waiting = self._waiting, []
        if packets:
            return packets
        try:
            packets = self._cursor.read(_PART_BYTES)
        except SegmentsDeletedError:
            # The recorder deletes old segments. What was lost shows as gaps in the connections:
            # the state of the next segment would begin them anew.
            self._cursor.skip_deleted()
            packets = [one for one in self._cursor.read(_PART_BYTES) if one.number > 0]
        self._note_segment(packets)
        return packets

    def _note_segment(self, packets: list[Packet]) -> None:
        """Notes in which segment the cursor is after these packets."""
        segment = self._cursor.position.segment
        if packets and self._passed[-1][1] < segment:
            self._passed.append((packets[-1].number, segment))
            del self._passed[1:-_SEGMENTS_NOTED]

    def _feed(self, packet: Packet) -> None:
        self._make_rows(self._trace.feed(packet))
        self.number = packet.number

    def _make_rows(self, steps: Steps) -> None:
        maker, violations = self._maker, self._violations
        for item, events in steps:
            maker.feed(item, events)
            violations.feed(item, events)

    def write(self, folder: Path) -> Result:
        """The files with the new rows (`files`), those of a capture that ends here (`end_files`),
        and facts about the packets (`trace`)."""
        found = self._in_copy(folder)
        if "failure" not in found:
            self._rows.pop_ready(False)
            found |= {
                "packets": self.number,
                "segment": self._segment_needed(),
                "is_complete": self.is_complete,
                "is_ended": self.is_ended,
            }
        return found

    def _segment_needed(self) -> int:
        """The segment with which a reader must begin to have the rows that are not written yet:
        rows wait until the handshake of their session is over."""
        waiting = [row.packet for rows in self._rows.tables.values() for row in rows]
        oldest = min(waiting, default=self.number + 1)
        return [segment for number, segment in self._passed if number < oldest][-1]

    def _in_copy(self, folder: Path) -> Result:
        reads, writes = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reads)
            code = 1
            try:
                # Only the parent reacts to Ctrl-C.
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                answer = json.dumps(self._written(folder)).encode()
                with open(writes, "wb") as pipe:
                    pipe.write(answer)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        os.close(writes)
        with open(reads, "rb") as pipe:
            said = pipe.read()
        _, status = os.waitpid(child, 0)
        if status or not said:
            return {"failure": f"the process that writes rows died (status {status})"}
        result: Result = json.loads(said)
        return result

    def _written(self, folder: Path) -> Result:
        """In the copy: everything that the capture has up to here."""
        gc.disable()
        try:
            files = self._files(folder / "new", is_end=False)
            self._make_rows(self._trace.finish())
            self._maker.finish()
            self._violations.finish()
            end_files = self._files(folder / "end", is_end=True)
        except OSError as error:
            return {"failure": f"{error.strerror or error}: {folder}"}
        except ZenlakeError as error:
            return {"failure": str(error)}
        return {"files": files, "end_files": end_files, "trace": facts_of(self._trace)}

    def _files(self, folder: Path, is_end: bool) -> list[dict[str, Any]]:
        files = ParquetFiles(folder)
        files.write({name: [one] for name, one in drain_tables(self._rows, is_end).items()})
        return [one._asdict() for one in files.close()]
