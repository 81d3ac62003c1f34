"""zenlake why: explains what failed in a capture, with packet numbers."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator

from zenlake.capture.recordings import is_recording
from zenlake.cli.capture_options import (
    CAPTURE_ENDINGS,
    collect_garbage_less_often,
    refuse_stored,
)
from zenlake.cli.extras import needs_extra
from zenlake.cli.output import print_json, print_lines
from zenlake.cli.progress import watched_steps
from zenlake.cli.why_text import ReportText
from zenlake.errors import LocalError
from zenlake.lake.address import parse
from zenlake.why import Evidence, Scope, parse_scope, report

EXAMPLES = """examples:
  zenlake why robot.pcapng
  zenlake why robot.pcapng --key 'robot/**'
  zenlake why robot.pcapng --query 3
  zenlake why robot.pcapng --at 88
  zenlake why monday.pcapng tuesday.pcapng
  zenlake why robots.lake --query 10.0.0.5:40312-10.0.0.1:7447#1/3
  zenlake why robot.pcapng --json | jq 'select(.failed) | .cause'

The first line of each story is the answer; then follow the steps, with the time since the start of
the capture and the packet, and what to try. --query takes the request id that decode shows, the
trace_id of the tables, or SESSION/ID if several queries have the same id.
exit codes: 0 done, nothing failed; 1 done, something failed, or the file is damaged;
2 wrong arguments, or nothing could be read
"""
_STORIES_SHOWN = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    add = parser.add_argument
    add(
        "inputs",
        nargs="+",
        metavar="FILE|LAKE",
        help="captures (- for standard input), or a lake's folder",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--query", metavar="ID", help="one query")
    which.add_argument("--key", metavar="KE", help="queries, publications and tokens of these keys")
    which.add_argument(
        "--at", metavar="PACKET", type=int, help="the story that this packet belongs to"
    )
    add("--capture", metavar="PATH", help="only this capture of a lake")
    add(
        "-n",
        "--stories",
        metavar="N",
        type=int,
        default=_STORIES_SHOWN,
        help="stories shown at most",
    )
    add("--json", action="store_true", help="one JSON object for each story, and one at the end")


def run(args: argparse.Namespace) -> int:
    if args.stories < 1:
        raise LocalError(f"--stories: {args.stories} is less than 1")
    collect_garbage_less_often()
    scope = parse_scope(args.query, args.key, args.at)
    is_negative = is_found = False
    is_brief = len(args.inputs) > 1 or _is_lake(args.inputs[0])
    for evidence in _all_evidence(args.inputs, scope, args.capture):
        made = report(evidence, scope)
        if args.query is not None and not made.stories:
            continue
        text = ReportText(made, scope, sys.stdout)
        if args.json:
            for value in text.json_values(args.stories):
                print_json(value)
        else:
            print_lines(text.lines(args.stories, is_brief=is_brief))
        is_found = is_found or bool(made.stories)
        is_negative = is_negative or made.failed or evidence.damage is not None
    if args.query is not None and not is_found:
        inputs = ", ".join(args.inputs)
        raise LocalError(f"{inputs}: no query {args.query} (without --query all are shown)")
    return 1 if is_negative else 0


def _all_evidence(inputs: list[str], scope: Scope, capture: str | None) -> Iterator[Evidence]:
    if inputs.count("-") > 1:
        raise LocalError("standard input can be read only once")
    for path in inputs:
        yield from _evidence(path, scope, capture)


def _is_lake(path: str) -> bool:
    """Whether it is a folder, or an address in a store, where only lakes are read."""
    if path == "-":
        return False
    address = parse(path)
    if not address.is_local:
        return True
    return os.path.isdir(address.path) and not is_recording(address.path)


def _evidence(path: str, scope: Scope, capture: str | None) -> Iterator[Evidence]:
    if not _is_lake(path):
        if capture is not None:
            raise LocalError("--capture is for lakes")
        from zenlake.why.from_capture import read_capture

        yield read_capture(path, scope, lambda trace: watched_steps(trace, [path]))
        return
    if path.endswith(CAPTURE_ENDINGS):
        refuse_stored("why", [path])
    with needs_extra("why", "sql"):
        from zenlake.why.from_lake import read_lake
    yield from read_lake(path, scope, capture)
