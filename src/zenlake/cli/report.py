"""zenlake report: writes an HTML page about a lake or captures."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from zenlake.cli.extras import needs_extra
from zenlake.cli.output import print_json, safe
from zenlake.cli.table_source import opened_captures, opened_lake, start_quickly
from zenlake.errors import LocalError

if TYPE_CHECKING:
    from zenlake.report import WrittenPage
    from zenlake.report.database import Tables

_ENDING = re.compile(r"\.(?:lake|(?:pcap|pcapng|cap)\d*(?:\.gz|\.zst)?)$")
EXAMPLES = """examples:
  zenlake report robot.pcapng
  zenlake report captures/ -o monday.html
  zenlake report --lake robots.lake
  zenlake report --lake robots.lake -o monday.html --capture captures/monday.pcapng
  zenlake report --lake robots.lake --key 'robot/*/pose' --node 518c8c14

The page needs no network and no server: open it in a browser, send it to a colleague. It contains a
bounded part of the lake, and names what it omits. --node takes the beginning of an id that no other
node shares. The page itself can be filtered by key expression and node, too.

Captures are read into tables of a temporary folder (TMPDIR), by DuckDB, without Spark and Java.
For captures of gigabytes, or several pages about the same ones, make a lake once: zenlake pipeline.
exit codes: 0 done; 1 done, but no message matches the filters, or a capture is damaged and was read
as far as possible; 2 no such lake or capture, or it is empty
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.set_defaults(words_go_to="captures")
    add = parser.add_argument
    add("captures", nargs="*", metavar="CAPTURE", help="captures, folders of them, patterns")
    add("--lake", metavar="DIR", help="the lake's folder, instead of captures")
    add(
        "-o",
        "--output",
        metavar="FILE",
        help="the page (default: the name of the input, with .html)",
    )
    add("--key", metavar="KE", help="only messages whose key intersects")
    add("--node", metavar="ZID", help="only messages that this node sent or received")
    add("--capture", metavar="PATH", help="only this capture, as `zenlake lake ls` shows it")
    add("--json", action="store_true", help="print one JSON object about the page")


def run(args: argparse.Namespace) -> int:
    start_quickly(args)
    if bool(args.captures) == (args.lake is not None):
        raise LocalError("expected either captures or --lake DIR")
    if args.lake is None:
        with needs_extra("report", "sql"):
            from zenlake.report.database import SAMPLES, TABLES_READ
        source = opened_captures(
            "report", args, args.captures, tables=TABLES_READ, as_read=[SAMPLES]
        )
    else:
        source = opened_lake("report", args.lake)
    with source as (tables, is_damaged):
        report = _written(tables, args)
    if args.json:
        print_json({**report._asdict(), "path": str(report.path)})
    else:
        print(f"{safe(str(report.path))}  {report.bytes / 1e6:.1f} MB, in {report.seconds:.1f} s")
    return 0 if report.messages and not is_damaged else 1


def _written(tables: Tables, args: argparse.Namespace) -> WrittenPage:
    with needs_extra("report", "sql"):
        from zenlake.report import Selection, write
    name = _ENDING.sub("", tables.directory.resolve().name)
    path = Path(args.output or f"{name}.html")
    return write(tables, path, Selection(args.key, args.node, args.capture))
