"""zenlake decode: prints every Zenoh message of a capture, one per line."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from typing import NamedTuple

import zenlake.trace
from zenlake.capture.files import rotated
from zenlake.cli.capture_options import (
    add_port_option,
    check_ports,
    collect_garbage_less_often,
    refuse_stored,
)
from zenlake.cli.decode.follow import follower
from zenlake.cli.decode.follower import Follower, FollowerLine
from zenlake.cli.decode.line import TIMES
from zenlake.cli.decode.printer import Printer
from zenlake.cli.decode.selection import Selection, SelectionWriter, spool_standard_input
from zenlake.cli.decode.summary import count_lines, summary_lines
from zenlake.cli.output import Lines, print_json, safe
from zenlake.cli.progress import watched, watched_chunks
from zenlake.errors import LocalError
from zenlake.trace import Trace
from zenlake.trace.events import MessageSeen, TraceEvent
from zenlake.trace.times import CaptureStart
from zenlake.trace.trace import count_kinds
from zenlake.trace.where import Filter, all_of, compares_patterns, parse

EXAMPLES = """examples:
  zenlake decode capture.pcapng
  zenlake decode --where 'kind == PUSH and key ~ robot/** and size > 100' capture.pcapng
  zenlake decode --follow 12 capture.pcapng.gz        the request 12 and its replies
  zenlake decode --follow 3b76 capture.pcapng         what a node sent and received
  zenlake decode --count --json *.pcap
  zenlake decode --where 'key ~ a/b' -w small.pcapng big.pcapng
  tcpdump -i any -U -w - port 7447 | zenlake decode -

docs/decode.md has the filter language and all fields.
exit codes: 0 done; 1 the file is damaged, or no message was selected; 2 it cannot be read
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="pcap or pcapng, also .gz and .zst; - for stdin")
    add("--where", action="append", default=[], metavar="EXPR", help="only messages that match")
    add("--follow", metavar="WHAT", help="only a request (by number), a node (zid) or a key")
    add("--count", action="store_true", help="counts by kind instead of messages")
    add("--json", action="store_true", help="one JSON object per line")
    add("-v", "--verbose", action="store_true", help="show all fields below each message")
    add("--hex", action="store_true", help="show the bytes below each message")
    add("--time", choices=TIMES, default="relative", help="times (default: since the first packet)")
    add("-c", dest="limit", type=int, metavar="N", help="stop after N messages of a capture")
    add("-w", dest="out", metavar="OUT", help="write the packets of the selected messages (pcapng)")
    add_port_option(parser)
    add("--rotated", action="store_true", help="read the rotated files of tcpdump as one capture")
    add("-l", "--line-buffered", action="store_true", help="flush each line, also into a pipe")
    add("-q", "--quiet", action="store_true", help="print only the summary; for -w")


class Capture(NamedTuple):
    """One capture: its displayed name, and its files, which are read as one."""

    name: str
    paths: list[str]


def run(args: argparse.Namespace) -> int:
    collect_garbage_less_often()
    check_ports(args.port)
    if args.limit is not None and args.limit < 1:
        raise LocalError(f"-c must be at least 1, not {args.limit}")
    refuse_stored("decode", args.files)
    start = CaptureStart()
    passes = all_of([parse(one, start) for one in args.where]) if args.where else None
    _print_hints(args.where)
    if args.follow is not None:
        follower(args.follow)  # reports a wrong argument before any file is read
    spooled = spool_standard_input() if args.out is not None and "-" in args.files else ""
    writer = None
    try:
        captures = list(_captures(args, spooled))
        if args.out is not None:
            writer = SelectionWriter(args.out, [p for capture in captures for p in capture.paths])
        return _Run(args, passes, start, writer).run(captures)
    finally:
        if writer is not None:
            writer.discard()
        if spooled:
            os.unlink(spooled)


def _print_hints(expressions: list[str]) -> None:
    for pattern in [one for where in expressions for one in compares_patterns(where)]:
        print(
            f"hint: == compares keys letter by letter; `key ~ {safe(pattern)}` selects those"
            " that intersect",
            file=sys.stderr,
        )


def _captures(args: argparse.Namespace, spooled: str) -> Iterator[Capture]:
    if args.rotated:
        if "-" in args.files:
            raise LocalError("--rotated needs files, not standard input")
        parts = dict.fromkeys(part for file in args.files for part in rotated(file))
        yield Capture(args.files[0], list(parts))
        return
    for file in args.files:
        yield Capture(file, [spooled if file == "-" and spooled else file])


class _Run:
    """One run of the command."""

    def __init__(
        self,
        args: argparse.Namespace,
        passes: Filter | None,
        start: CaptureStart,
        writer: SelectionWriter | None,
    ) -> None:
        self._args = args
        self._passes = passes
        self._start = start
        self._writer = writer
        self._lines = Lines(sys.stdout, args.line_buffered)
        self._printer = Printer(self._lines, args.time, args.json, args.verbose, args.hex)
        self._quiet = args.quiet or args.out == "-"
        self._messages = 0
        self._chosen = 0
        self._is_damaged = False

    def run(self, captures: list[Capture]) -> int:
        total = 0
        for capture in captures:
            self._messages = self._chosen = 0
            self._read(capture, with_header=len(captures) > 1)
            total += self._chosen
        if self._writer is not None:
            self._writer.commit()
            self._print_remark(
                f"{self._writer.written:,} packets written to {safe(self._writer.path)}"
            )
        nothing = self._has_choice() and total == 0
        return 1 if nothing or self._is_damaged else 0

    def _has_choice(self) -> bool:
        return self._passes is not None or self._args.follow is not None

    def _read(self, capture: Capture, with_header: bool) -> None:
        selection = None if self._writer is None else Selection()
        with zenlake.trace.open(capture.paths, ports=self._args.port) as trace:
            self._start.first_ns = lambda: trace.first_ns or 0
            try:
                if self._args.count:
                    self._count(capture, trace, selection, with_header)
                else:
                    self._print(capture, trace, selection, with_header)
            except KeyboardInterrupt:
                self._summarize(capture, trace)
                raise
            finally:
                self._lines.flush()
            self._is_damaged |= trace.is_damaged
        if self._writer is not None and selection is not None:
            self._writer.write(selection, capture.paths)
        self._summarize(capture, trace)

    def _print(
        self, capture: Capture, trace: Trace, selection: Selection | None, with_header: bool
    ) -> None:
        printer, quiet = self._printer, self._quiet
        if not quiet:
            printer.begin(capture.name, with_header)
        for event, note in self._chosen_lines(watched(trace, capture.paths)):
            if event is None:
                if not quiet:
                    printer.sentence(note)
                continue
            if isinstance(event, MessageSeen):
                self._chosen += 1
                if selection is not None:
                    selection.add(event)
            if not quiet:
                printer.event(event, trace.first_ns, note)

    def _chosen_lines(self, events: Iterator[TraceEvent]) -> Iterator[FollowerLine]:
        """The lines of the selected events, up to the limit."""
        left = self._args.limit
        for line in self._all_lines(events):
            yield line
            if left is not None and isinstance(line.event, MessageSeen):
                left -= 1
                if left == 0:
                    return

    def _all_lines(self, events: Iterator[TraceEvent]) -> Iterator[FollowerLine]:
        """The lines of the selected events; a filter excludes all events that are not messages."""
        if self._args.follow is not None:
            yield from self._followed(follower(self._args.follow), events)
            return
        passes = self._passes
        for event in events:
            if event.is_state:
                continue
            if isinstance(event, MessageSeen):
                self._messages += 1
                if passes is None or passes(event):
                    yield FollowerLine(event)
            elif passes is None:
                yield FollowerLine(event)

    def _followed(self, selector: Follower, events: Iterator[TraceEvent]) -> Iterator[FollowerLine]:
        for event in events:
            if isinstance(event, MessageSeen) and not event.is_state:
                self._messages += 1
            for line in selector.feed(event):
                if self._is_chosen(line):
                    yield line
        yield from filter(self._is_chosen, selector.finish())

    def _is_chosen(self, line: FollowerLine) -> bool:
        if line.event is not None and line.event.is_state:
            return False
        passes = self._passes
        return passes is None or not isinstance(line.event, MessageSeen) or passes(line.event)

    def _count(
        self, capture: Capture, trace: Trace, selection: Selection | None, with_header: bool
    ) -> None:
        counts: dict[str, int] = {}
        if selection is None and not self._has_choice() and self._args.limit is None:
            for events in watched_chunks(trace, capture.paths):
                count_kinds(events, counts)
            self._messages = sum(counts.values())
        else:
            for event, _ in self._chosen_lines(watched(trace, capture.paths)):
                if isinstance(event, MessageSeen):
                    counts[event.kind] = counts.get(event.kind, 0) + 1
                    if selection is not None:
                        selection.add(event)
        self._chosen = sum(counts.values())
        if self._quiet:
            return
        if self._args.json:
            undecoded = dict(trace.undecoded)
            print_json({"file": capture.name, "counts": counts, "undecoded": undecoded})
            return
        if with_header:
            self._lines.add(f"== {safe(capture.name)}")
        self._lines.add_all(count_lines(counts))

    def _summarize(self, capture: Capture, trace: Trace) -> None:
        if self._args.count and self._args.json:
            return
        chosen = self._chosen if self._has_choice() else None
        for line in summary_lines(capture.name, trace, self._messages, chosen):
            self._print_remark(line)

    def _print_remark(self, line: str) -> None:
        """Print a line of the summary: below counts on standard output, else on standard error."""
        if self._args.count and not self._args.json and not self._quiet:
            self._lines.add(line)
            self._lines.flush()
        else:
            print(line, file=sys.stderr)
