"""GrowingReader: reads a recording step by step while it grows, and writes new rows to files.

The trace is kept between steps. A step has two kinds of rows: rows that no later packet changes,
and rows that the end of the capture would add (open sessions, incomplete batches, ...). The second
kind is only known when the trace is finished, and a finished trace cannot read further packets. So
a forked copy of the process finishes the trace and writes the rows of a step.
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
"""The most rows of one step: a long recording is published in parts."""
_SEGMENTS_NOTED: Final = 1_000
_PART_BYTES: Final = 4 << 20


class GrowingReader:
    """`read` reads new packets, `write` writes the rows since the last `write`."""

    def __init__(
        self,
        cursor: Cursor,
        capture: str,
        packets_done: int = 0,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        """Rows of the first `packets_done` packets are not written, because the lake has them.

        `facts` are about these packets, if the cursor does not begin with the first packet.
        """
        self._cursor = cursor
        self._trace = from_packets(damage=cursor.skipped)
        self._rows = new_rows(capture)
        self._maker = RowMaker(self._trace, self._rows)
        self._violations = ViolationRecorder(self._rows, self._trace)
        self._waiting: list[Packet] = []
        self._passed = [(-1, cursor.position.segment)]
        """Pairs of a packet number and the segment in which the cursor was after that packet."""
        self.number = 0
        """The number of the last packet that was read."""
        self.is_complete = False
        """Whether the last `read` reached the end of the recording."""
        self.is_ended = False
        """Whether the recorder has closed the recording, and all of it was read."""
        # There are many rows and no reference cycles: garbage collection only costs time.
        gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, 50, 1_000)
        self._read_again(packets_done)
        if facts is not None:
            self._use_facts(facts)

    def _read_again(self, packets_done: int) -> None:
        """Reads the first packets again, to bring the trace to the state that it had after them."""
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
        # These counts include the damage in segments that were read again.
        self._cursor.skipped.clear()
        trace.skipped.clear()
        for reason, (count, size) in facts["skipped"].items():
            trace.skipped.add(reason, size, count)

    def read(self, rows_max: int = ROWS_MAX) -> None:
        """Reads until there are `rows_max` rows, or no more packets."""
        self.is_complete = self.is_ended = False
        # Checked before reading: a recorder that ends during the read may have added packets.
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
            # The recorder deletes old segments. The loss becomes gaps in connections; the state of
            # the next segment is skipped, because it would begin the connections anew.
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
        found = self._write_in_copy(folder)
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
        """The segment from which a reader must start to get the rows that are not written yet: rows
        are held until the handshake of their session is over."""
        waiting = [row.packet for rows in self._rows.tables.values() for row in rows]
        oldest = min(waiting, default=self.number + 1)
        return [segment for number, segment in self._passed if number < oldest][-1]

    def _write_in_copy(self, folder: Path) -> Result:
        reads, writes = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reads)
            code = 1
            try:
                # Only the parent reacts to Ctrl-C.
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                answer = json.dumps(self._finish_and_write(folder)).encode()
                with open(writes, "wb") as pipe:
                    pipe.write(answer)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        os.close(writes)
        with open(reads, "rb") as pipe:
            answer = pipe.read()
        _, status = os.waitpid(child, 0)
        if status or not answer:
            return {"failure": f"the process that writes rows died (status {status})"}
        result: Result = json.loads(answer)
        return result

    def _finish_and_write(self, folder: Path) -> Result:
        """In the copy: finish the trace and write all rows up to here."""
        gc.disable()
        try:
            files = self._write_files(folder / "new", is_end=False)
            self._make_rows(self._trace.finish())
            self._maker.finish()
            self._violations.finish()
            end_files = self._write_files(folder / "end", is_end=True)
        except OSError as error:
            return {"failure": f"{error.strerror or error}: {folder}"}
        except ZenlakeError as error:
            return {"failure": str(error)}
        return {"files": files, "end_files": end_files, "trace": facts_of(self._trace)}

    def _write_files(self, folder: Path, is_end: bool) -> list[dict[str, Any]]:
        files = ParquetFiles(folder)
        files.write({name: [one] for name, one in drain_tables(self._rows, is_end).items()})
        return [one._asdict() for one in files.close()]
