"""zenlake up: a router that records, its recording as tables, and a page about them."""

from __future__ import annotations

import argparse
import json
from typing import Any, Final

from zenlake.cli.child_command import ChildCommand
from zenlake.cli.ending import Ending
from zenlake.cli.extras import needs_extra
from zenlake.cli.follow import seconds
from zenlake.cli.output import print_error, print_json, safe
from zenlake.cli.readiness import ReadinessSocket, report_ready
from zenlake.cli.recording_options import add_recording_arguments
from zenlake.cli.report_server import ReportServer
from zenlake.lake.follow.defaults import EVERY_SECONDS

EXAMPLES = """examples:
  zenlake up
  zenlake up -l tcp/[::]:7447 --record robots.recording --lake robots.lake --keep-bytes 10G
  zenlake up --port 0 --every 1
  zenlake sql --lake live.lake "SELECT key, count(*) FROM samples GROUP BY key"

Three commands run together: `zenlake router --record`, `zenlake pipeline --follow` and `zenlake
report`, whose page is served to this machine only. What was published is in the tables a few
seconds later. Ctrl-C ends them in order: the router closes its sessions, the recording is sealed,
and the rest of it is read. Started again with the same folders, it continues.
exit codes: 0 ended by SIGTERM or SIGINT; 1 a command failed; 2 a command refused its options
"""
_LOOK_S: Final = 0.2
_ROUTER_STOP_S: Final = 15.0
_FOLLOW_STOP_S: Final = 180.0
_ENDING: Final = (
    "ending: the rest of the recording is read, for 3 minutes at most; "
    "Ctrl-C again ends at once, and the next start continues"
)
_PORT_MAX: Final = 65_535
RECORDING: Final = "live.recording"
LAKE: Final = "live.lake"
PORT: Final = 7480


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    add = parser.add_argument
    add("--record", default=RECORDING, metavar="DIR", help=f"the recording (default {RECORDING})")
    add("--lake", default=LAKE, metavar="DIR", help=f"the lake (default {LAKE})")
    add("--port", type=_port, default=PORT, help=f"port of the page, 0: any (default {PORT})")
    add("-c", "--config", metavar="PATH", help="configuration file of the router, JSON5")
    add("-l", "--listen", metavar="ENDPOINT", action="append", help="where the router listens")
    add("-e", "--connect", metavar="ENDPOINT", action="append", help="where the router connects")
    add("--no-multicast-scouting", action="store_true", help="neither send nor answer SCOUT")
    add("--cfg", metavar="KEY:VALUE", action="append", help="as for zenlake router")
    add("--log", default="warn", metavar="FILTER", help="what the router logs (default warn)")
    add_recording_arguments(parser)
    add(
        "--every",
        type=seconds,
        metavar="SECONDS",
        help=f"time between two versions of the tables (default {EVERY_SECONDS:g})",
    )
    add("--master", metavar="MASTER", help="local[4], spark://...; default: this machine")
    add("--json", action="store_true", help="one JSON object for each version")
    add("--quiet", "-q", action="store_true", help="print errors only")


def _port(text: str) -> int:
    if not text.isdecimal() or int(text[:6]) > _PORT_MAX:
        raise argparse.ArgumentTypeError(f"not a port: {text!r}")
    return int(text)


def run(args: argparse.Namespace) -> int:
    with needs_extra("up", "lake"):
        import pyspark  # noqa: F401  # the command that needs it runs in another process
    ending = Ending()
    with ReportServer(args.port, args.lake) as server:
        with ReadinessSocket() as readiness:
            router = ChildCommand("router", _router_options(args), variables=readiness.variables)
            locators = _locators_when_ready(router, readiness, ending)
        if locators is None:
            return _stop([router])
        follow = ChildCommand("pipeline", _follow_options(args), on_line=_printer(args, server))
        _announce(args, locators, server)
        report_ready(server.address)
        children = [router, follow]
        while not ending.wait(_LOOK_S) and all(one.is_running() for one in children):
            pass
        if ending.name and not (args.quiet or args.json):
            print(_ENDING, flush=True)
        return _stop(children)


def _locators_when_ready(
    router: ChildCommand, readiness: ReadinessSocket, ending: Ending
) -> str | None:
    """Waits until the router accepts connections, and so the recording exists; None if it ended."""
    while router.is_running() and not ending.name:
        locators = readiness.status(_LOOK_S)
        if locators is not None:
            return locators
    return None


def _stop(children: list[ChildCommand]) -> int:
    """Ends the router first, so that the follower finds the end of the recording."""
    codes = [one.exit_code for one in children]  # None for those that still run
    for one, patience_s in zip(children, (_ROUTER_STOP_S, _FOLLOW_STOP_S), strict=False):
        if not one.stop(patience_s):
            cause = f"zenlake {one.name} did not end in {patience_s:g} s and was killed"
            print_error(f"{cause}; the next start continues where the tables stopped")
    failed = [one for one in children if one.is_failed]
    for one in failed:
        print_error(f"zenlake {one.name} ended with exit code {one.exit_code}")
    if 2 in codes:
        return 2
    return 1 if failed else 0


def _router_options(args: argparse.Namespace) -> list[str]:
    found = ["--record", args.record, "--log", args.log]
    for name in ("listen", "connect", "cfg", "exclude", "drop_payload"):
        for value in getattr(args, name) or ():
            found += [f"--{name.replace('_', '-')}", value]
    for name in ("config", "segment_bytes", "segment_seconds", "keep_bytes", "keep_seconds"):
        value = getattr(args, name)
        if value is not None:
            found += [f"--{name.replace('_', '-')}", str(value)]
    if args.no_multicast_scouting:
        found.append("--no-multicast-scouting")
    return found


def _follow_options(args: argparse.Namespace) -> list[str]:
    found = ["--follow", args.record, "--lake", args.lake, "--json"]
    for name in ("every", "master"):
        if getattr(args, name) is not None:
            found += [f"--{name}", str(getattr(args, name))]
    return found


def _announce(args: argparse.Namespace, locators: str, server: ReportServer) -> None:
    if args.quiet or args.json:
        return
    print(f"router     {safe(locators)}")
    print(f"recording  {safe(args.record)}")
    print(f'lake       {safe(args.lake)}   zenlake sql --lake {safe(args.lake)} "SHOW TABLES"')
    print(f"report     {server.address}", flush=True)


def _printer(args: argparse.Namespace, server: ReportServer) -> Any:
    """Handles the lines of the follower, one for each version."""

    def handle(line: str) -> None:
        try:
            version = json.loads(line)
        except ValueError:
            return
        server.show_version(version.get("version", 0))
        if args.json:
            print_json(version)
        elif not args.quiet:
            print(_line(version), flush=True)

    return handle


def _line(version: dict[str, Any]) -> str:
    last_ns, published_ns = version.get("last_ns"), version.get("published_ns")
    age = ""
    if last_ns is not None and published_ns is not None:
        age = f", the newest {max(published_ns - last_ns, 0) / 1e9:.1f} s old"
    return f"version {version['version']}: {version['messages']:,} messages{age}"
