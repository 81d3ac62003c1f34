"""zenlake report: what a lake tells, as one HTML page."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from zenlake.cli.output import print_json, safe
from zenlake.errors import LocalError
from zenlake.lake.store import Store

if TYPE_CHECKING:
    from zenlake.report import Report

EXAMPLES = """examples:
  zenlake report --lake robots.lake
  zenlake report --lake robots.lake -o monday.html --capture captures/monday.pcapng
  zenlake report --lake robots.lake --key 'robot/*/pose' --node 518c8c14

The page needs no network and no server: open it in a browser, send it to a colleague. It holds a
bounded part of the lake, and says what it leaves out. --node takes the beginning of an id, if no
other node has it. The page can be filtered by key expression and node as well.
exit codes: 0 done; 1 done, but no message fits the filters; 2 no lake there, or nothing in it
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    add = parser.add_argument
    add("--lake", required=True, metavar="DIR", help="the lake's folder")
    add("-o", "--output", metavar="FILE", help="the page; without, named as the lake, .html")
    add("--key", metavar="KE", help="only what has a key that intersects")
    add("--node", metavar="ZID", help="only what this node sent or received")
    add("--capture", metavar="PATH", help="only this capture, as `zenlake lake ls` shows it")
    add("--json", action="store_true", help="tell about the page in one JSON object")


def run(args: argparse.Namespace) -> int:
    report = _written(Store(args.lake), args)
    if args.json:
        print_json({**report._asdict(), "path": str(report.path)})
    else:
        print(f"{safe(str(report.path))}  {report.bytes / 1e6:.1f} MB, in {report.seconds:.1f} s")
    return 0 if report.messages else 1


def _written(store: Store, args: argparse.Namespace) -> Report:
    try:
        from zenlake.report import Selection, write
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("zenlake"):
            raise
        wanted = "zenlake report needs the lake extra: pip install 'zenlake[lake]'"
        raise LocalError(wanted) from None
    name = store.directory.resolve().name.removesuffix(".lake")
    path = Path(args.output or f"{name}.html")
    return write(store, path, Selection(args.key, args.node, args.capture))
