"""zenlake pipeline: reads captures into the tables of a lake, on Spark."""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING, Final

from zenlake.cli import follow
from zenlake.cli.extras import needs_extra
from zenlake.cli.interrupts import ending_immediately
from zenlake.cli.output import painter, print_error, print_json, print_lines, safe
from zenlake.cli.pipeline_progress import ProgressLine
from zenlake.limits import DERIVE_BYTES_MAX

if TYPE_CHECKING:
    from zenlake.lake.pipeline import Outcome

_LITTLE_BYTES: Final = 64 << 20
_MEMORY_MIB_MIN: Final = 32
_MEMORY_MIB_MAX: Final = 1 << 20

EXAMPLES = """examples:
  zenlake pipeline robot.pcapng --lake robots.lake
  zenlake pipeline monday.pcap.gz tuesday.pcap.gz --lake robots.lake
  zenlake pipeline captures/ --lake robots.lake --master 'local[4]'
  zenlake pipeline 'captures/2026-*.pcapng' --lake robots.lake
  zenlake pipeline --follow recording/ --lake robots.lake
  zenlake pipeline s3://bucket/captures --lake s3://bucket/robots.lake --master spark://host:7077
  zenlake sql --lake robots.lake "SELECT key, verdict, reason FROM queries"

An unchanged file that the lake has already is skipped; the rows of a changed file are replaced. All
tables change in one step at the end: until then, and if anything fails, readers see the old
version. Captures and lakes are paths or addresses (s3://, s3a://, gs://, hdfs://, file:), which all
workers of a cluster must be able to open; credentials are taken from the environment.

--follow reads recordings (zenlake record, zenlake router --record) while they grow, and publishes a
version every few seconds, until Ctrl-C. Then it reads what was recorded until that moment. Started
again, it continues where it stopped or was killed. Each version has the rows of one run over the
recording as it is then; docs/live.md has the exceptions.
exit codes: 0 done; 1 done, but a file was damaged or could not be read; 2 nothing could be read
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    add = parser.add_argument
    add(
        "inputs",
        nargs="+",
        metavar="INPUT",
        help="captures, folders of them or patterns; paths or addresses",
    )
    add("--lake", required=True, metavar="DIR", help="the lake, a folder or an address")
    add("--master", metavar="MASTER", help="local[4], spark://..., sc://...; default: this machine")
    add(
        "--task-memory",
        type=_mebibytes,
        default=DERIVE_BYTES_MAX,
        metavar="MIB",
        help="memory of a step that derives tables; beyond it data is written to disk "
        f"(default {DERIVE_BYTES_MAX >> 20})",
    )
    add("--follow", action="store_true", help="read recordings while they grow, until Ctrl-C")
    follow.add_arguments(parser)
    add(
        "--json",
        action="store_true",
        help="one JSON object at the end; with --follow one for each version",
    )
    add("--quiet", "-q", action="store_true", help="no progress and no summary")


def _mebibytes(text: str) -> int:
    if not text.isdecimal() or not _MEMORY_MIB_MIN <= int(text[:9]) <= _MEMORY_MIB_MAX:
        limits = f"from {_MEMORY_MIB_MIN} to {_MEMORY_MIB_MAX:,}"
        raise argparse.ArgumentTypeError(f"not a number of MiB {limits}: {text!r}")
    return int(text) << 20


def run(args: argparse.Namespace) -> int:
    if args.follow:
        return follow.run(args)
    follow.refuse_options(args)
    with ending_immediately():
        return _run(args)


def _run(args: argparse.Namespace) -> int:
    with needs_extra("pipeline", "lake"):
        from zenlake.lake.pipeline import run as run_pipeline
        from zenlake.lake.plan.inputs import captures_in
        from zenlake.lake.spark import QUICK_START, session
    paths = captures_in(args.inputs)
    if (args.master or "local").startswith("local") and not _any_opens(paths):
        return 2  # before Spark starts, which takes seconds
    progress = ProgressLine(sys.stderr, is_silent=args.quiet or args.json)
    started = time.monotonic()
    try:
        progress.step("starting Spark")
        quick = QUICK_START if args.master is None and _is_little(paths) else {}
        spark = session(args.master, app="zenlake pipeline", **quick)
        outcome = run_pipeline(
            args.inputs, args.lake, spark, progress.pipeline_step, memory_bytes=args.task_memory
        )
    finally:
        progress.end()
    for path, cause in outcome.failed.items():
        print_error(cause if path in cause else f"{path}: {cause}")
    _print_outcome(args, outcome, time.monotonic() - started)
    if not outcome.read and not outcome.unchanged:
        return 2
    return 1 if outcome.failed or outcome.damaged else 0


def _any_opens(paths: list[str]) -> bool:
    """Whether any file can be opened; prints the errors."""
    from zenlake.lake.plan.capture_names import why_not_opened

    causes = []
    for path in paths:
        cause = why_not_opened(path)
        if cause is None:
            return True
        causes.append(cause)
    for cause in causes:
        print_error(cause)
    return False


def _is_little(paths: list[str]) -> bool:
    """Whether starting Spark takes longer than reading the captures."""
    from zenlake.lake.plan.capture_names import size_of

    return sum(map(size_of, paths)) < _LITTLE_BYTES


def _print_outcome(args: argparse.Namespace, outcome: Outcome, seconds: float) -> None:
    if args.json:
        steps = {name: round(value, 3) for name, value in outcome.seconds.items()}
        facts = {name: getattr(outcome, name) for name in ("version", "messages")}
        lists = {
            name: getattr(outcome, name) for name in ("read", "unchanged", "damaged", "failed")
        }
        print_json({**facts, **lists, "seconds": round(seconds, 3), "steps": steps})
    elif not args.quiet and (outcome.read or outcome.unchanged):
        print_lines(_lines(args, outcome, seconds))


def _lines(args: argparse.Namespace, outcome: Outcome, seconds: float) -> list[str]:
    from zenlake.cli.summary_text import summary_lines
    from zenlake.lake.publish import Store
    from zenlake.lake.publish.local_copy import on_this_machine
    from zenlake.lake.summary import summarise

    with on_this_machine(Store(args.lake).snapshot()) as snapshot:
        found = [*summary_lines(summarise(snapshot, outcome.names), painter(sys.stdout))]
    lake = safe(args.lake)
    found.append("")
    if outcome.read:
        rate = outcome.messages / seconds
        found.append(
            f"{outcome.messages:,} messages into {lake} in {seconds:.1f} s ({rate:,.0f}/s)"
        )
    if outcome.unchanged:
        found.append(f"{len(outcome.unchanged)} unchanged, left as they are")
    found.append(f'query it: zenlake sql --lake {lake} "SELECT key, verdict, reason FROM queries"')
    return found
