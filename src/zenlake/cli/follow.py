"""zenlake pipeline --follow: reads recordings into a lake while they grow."""

from __future__ import annotations

import argparse
import math
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from zenlake.cli.extras import needs_extra
from zenlake.cli.interrupts import end_process
from zenlake.cli.output import print_error, print_json, safe
from zenlake.errors import LocalError
from zenlake.lake.follow.defaults import EVERY_SECONDS, KEEP_SECONDS

if TYPE_CHECKING:
    from zenlake.lake.follow.following import Stop
    from zenlake.lake.follow.settings import Progress

_EVERY_SECONDS_MIN: Final = 0.1
_EVERY_SECONDS_MAX: Final = 3_600.0
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--every",
        type=seconds,
        metavar="SECONDS",
        help=f"with --follow: time between two versions (default {EVERY_SECONDS:g})",
    )
    parser.add_argument(
        "--keep",
        type=seconds,
        metavar="SECONDS",
        help="with --follow: how long readers of older versions find their files "
        f"(default {KEEP_SECONDS:g})",
    )
    parser.add_argument(
        "--until-end",
        action="store_true",
        help="with --follow: stop when the recorder has closed all recordings",
    )
    parser.add_argument(
        "--state",
        metavar="DIR",
        help="with --follow into a store: a local folder for the state between two versions "
        "(default: the recording's name with .followed)",
    )


def seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not _EVERY_SECONDS_MIN <= value <= _EVERY_SECONDS_MAX:
        limits = f"from {_EVERY_SECONDS_MIN} to {_EVERY_SECONDS_MAX:g}"
        raise argparse.ArgumentTypeError(f"not a number of seconds {limits}: {text!r}")
    return value


def refuse_options(args: argparse.Namespace) -> None:
    """Refuse options that need --follow."""
    given = (args.every, args.keep, args.state, args.until_end or None)
    if any(one is not None for one in given):
        raise LocalError("--every, --keep, --state and --until-end need --follow")


def run(args: argparse.Namespace) -> int:
    with needs_extra("pipeline --follow", "lake"):
        from zenlake.lake.follow import following
        from zenlake.lake.follow.recordings import recording_id
        from zenlake.lake.follow.settings import Settings
        from zenlake.lake.spark import QUICK_START, session
    for path in args.inputs:
        recording_id(path)  # before Spark starts, which takes seconds
    stop = following.Stop()
    settings = Settings(
        every_s=args.every or EVERY_SECONDS,
        keep_s=args.keep or KEEP_SECONDS,
        memory_bytes=args.task_memory,
        until_end=args.until_end,
        state=args.state,
    )
    with _stopped_by_signals(stop):
        # Java only starts small tasks here: the rows stay in the Python workers.
        quick = QUICK_START if args.master is None else {}
        spark = session(args.master, app="zenlake pipeline --follow", **quick)
        following.follow(
            args.inputs,
            args.lake,
            spark,
            stop,
            settings,
            lambda path, progress: _print_version(args, path, progress),
            print_error,
        )
    return 0


@contextmanager
def _stopped_by_signals(stop: Stop) -> Iterator[None]:
    """The first signal requests a stop, the second one ends the process immediately."""

    def handle(number: int, frame: FrameType | None) -> None:
        if stop.is_requested:
            end_process(number)
        stop.request()

    before: dict[int, Any] = {number: signal.signal(number, handle) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _print_version(args: argparse.Namespace, path: str, progress: Progress) -> None:
    if args.json:
        print_json(
            {
                "recording": path,
                "version": progress.version,
                "batch": progress.batch,
                "packets": progress.packets,
                "messages": progress.messages,
                "last_ns": progress.last_ns,
                "published_ns": time.time_ns(),
                "steps": {name: round(value, 3) for name, value in progress.seconds.items()},
            }
        )
    elif not args.quiet:
        took = sum(progress.seconds.values())
        behind = ""
        if progress.last_ns is not None:
            behind = f", its last packet {_age(time.time() - progress.last_ns / 1e9)} old"
        print(
            f"{safe(path)}: version {progress.version}, {progress.messages:,} messages{behind} "
            f"(in {took:.1f} s)"
        )
    sys.stdout.flush()


def _age(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:,.0f} min"
