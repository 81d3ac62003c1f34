"""zenlake record: subscribes to keys of a network and records what it receives."""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import TYPE_CHECKING, Any, Final

from zenlake.cli.ending import Ending
from zenlake.cli.output import print_error, print_json
from zenlake.cli.recording_options import add_recording_arguments, period, set_recording
from zenlake.errors import LocalError

if TYPE_CHECKING:
    from zenlake.api.config.config import Config
    from zenlake.api.session.recording import Recording

EXAMPLES = """examples:
  zenlake record -e tcp/router.example:7447 -k 'robot/**' robots.recording
  zenlake record -e tcp/localhost:7447 -k 'robot/**' -k 'camera/*' --liveliness 'robot/**' DIR
  zenlake record -k '**' --exclude 'secret/**' --drop-payload 'camera/**' DIR
  zenlake record -k '**' --keep-bytes 20G --keep-seconds 7d DIR
  zenlake decode DIR
  zenlake sql DIR 'SELECT key, count(*) FROM samples GROUP BY key'

The recording holds the bytes of the client's own links, in pcapng files that other tools read.
Ctrl-C or SIGTERM completes it; started again with the same DIR, it continues it.

exit codes: 0 ended by SIGINT or SIGTERM; 1 ended, and packets were dropped or nothing was
received; 2 the arguments are wrong, no connection, or DIR cannot be written
"""
_ERASE: Final = "\r\x1b[K"
_PROGRESS_S: Final = 1.0
_LOOK_S: Final = 0.2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    add = parser.add_argument
    add("path", metavar="DIR", help="folder of the recording; created if it does not exist")
    add("-k", "--key", metavar="KEY", action="append", help="key expression; repeatable")
    add(
        "--liveliness",
        metavar="KEY",
        action="append",
        help="record liveliness tokens of these keys, a key expression; repeatable",
    )
    add("-e", "--connect", metavar="ENDPOINT", action="append", help="where to connect; repeatable")
    add("-l", "--listen", metavar="ENDPOINT", action="append", help="where to listen; repeatable")
    add("-m", "--mode", choices=("client", "peer"), help="role of this node; default client")
    add("-c", "--config", metavar="PATH", help="configuration file, JSON5")
    add("--cfg", metavar="KEY:VALUE", action="append", help="set a configuration key; repeatable")
    add("--no-multicast-scouting", action="store_true", help="neither send nor answer SCOUT")
    add_recording_arguments(parser)
    add("--log", metavar="FILTER", help="what to log, such as `debug`; default `warn`")
    add("--json", action="store_true", help="one JSON object per line, also while it records")
    add(
        "--progress",
        metavar="TIME",
        type=period,
        default=_PROGRESS_S,
        help="time between two lines of progress; default 1s",
    )


def run(args: argparse.Namespace) -> int:
    from zenlake.api.session.recording import record_with
    from zenlake.cli.router_log import start_log
    from zenlake.keyexpr.canonical import validate

    keys, tokens = args.key or [], args.liveliness or []
    if not keys and not tokens:
        raise LocalError("nothing to record: use -k KEY or --liveliness KEY")
    for key in (*keys, *tokens):
        validate(key)
    config = config_of(args)
    start_log(args.log, is_json=False, default="warn", stream=sys.stderr)
    ending = Ending()
    with record_with(config, keys, tokens) as recording:
        display = _Display(recording, args)
        display.begin()
        while not ending.wait(min(_LOOK_S, args.progress)) and not recording.failure:
            display.update()
    return display.finish()


def config_of(args: argparse.Namespace) -> Config:
    from zenlake.api.config.config import Config
    from zenlake.cli.router import insert_setting, key_and_value, set_network

    config = Config() if args.config is None else Config.from_file(args.config)
    if args.mode is not None or "mode" not in config.explicit():
        config.insert_json5("mode", json.dumps(args.mode or "client"))
    set_network(config, args)
    for text in args.cfg or ():
        insert_setting(config, *key_and_value(text))
    set_recording(config, args, args.path)
    return config


class _Display:
    """The output of the command: JSON lines, or a progress line on a terminal."""

    def __init__(self, recording: Recording, args: argparse.Namespace) -> None:
        self._recording = recording
        self._is_json = args.json
        self._is_line = not args.json and sys.stderr.isatty()
        self._every_s = args.progress
        self._began = self._shown_at = time.monotonic()
        self._last: dict[str, int] = {}

    def begin(self) -> None:
        path = self._recording.path
        if self._is_json:
            self._print_json("recording", {"path": path})
        else:
            print(f"recording into {path}, Ctrl-C ends it", file=sys.stderr, flush=True)

    def update(self) -> None:
        now = time.monotonic()
        if now - self._shown_at < self._every_s:
            return
        seconds, self._shown_at = now - self._shown_at, now
        stats = self._recording.stats()
        if self._is_json:
            self._print_json("progress", {"seconds": round(now - self._began, 3), **stats})
        elif self._is_line:
            sys.stderr.write(_ERASE + self._line(stats, seconds))
            sys.stderr.flush()
        self._last = stats

    def _line(self, stats: dict[str, int], seconds: float) -> str:
        rate = (stats["bytes"] - self._last.get("bytes", 0)) / seconds / 1e6
        return f"{_totals(stats)}, {rate:,.1f} MB/s"

    def finish(self) -> int:
        """Print the totals at the end; returns the exit code."""
        stats = self._recording.stats()
        if self._is_line:
            sys.stderr.write(_ERASE)
        if self._is_json:
            seconds = round(time.monotonic() - self._began, 3)
            self._print_json("ended", {"seconds": seconds, **stats})
        else:
            print(f"{self._recording.path}: {_totals(stats)}", file=sys.stderr, flush=True)
        failure = self._recording.failure
        if stats["dropped"]:
            cause = failure or "the disk was too slow or full"
            print_error(f"{stats['dropped']:,} packets were dropped: {cause}")
        return 0 if stats["messages"] and not stats["dropped"] and not failure else 1

    def _print_json(self, event: str, values: dict[str, Any]) -> None:
        print_json({"event": event, **values})
        sys.stdout.flush()


def _totals(stats: dict[str, int]) -> str:
    return (
        f"{stats['messages']:,} messages, {stats['packets']:,} packets, "
        f"{stats['bytes'] / 1e6:,.1f} MB, {stats['dropped']:,} dropped"
    )
