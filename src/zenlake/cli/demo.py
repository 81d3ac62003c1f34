"""zenlake demo: explains what failed in a capture of the package, and shows further commands."""

from __future__ import annotations

import argparse
import contextlib
import io
import shlex
import sys
from importlib import import_module, resources
from typing import Final

from zenlake.cli.output import painter

EXAMPLES = """examples:
  zenlake demo
  zenlake demo robot.pcapng

The capture that comes with the package was recorded with nodes of eclipse-zenoh 1.10.2. The demo
needs neither Java nor an extra.
"""
# A title, a command, and how many lines of its output are shown. The output of the last one stays
# visible on a terminal.
STEPS: Final[tuple[tuple[str, tuple[str, ...], int], ...]] = (
    ("Who asked for what, and what came back?", ("decode", "--where", "key ~ **"), 24),
    ("What failed, and why?", ("why",), 60),
)
NEXT: Final = (
    ("With tables and plots, without Java: pip install 'zenlake[sql]'", "report {}"),
    ("", 'sql {} "SELECT key, verdict, reason FROM queries"'),
    ("Bit by bit", "explain --as network fc 01 00 03 72 2f 62 a1 0d 26 dc 0b 63 03 07 78 3d 31"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = __doc__
    parser.epilog = EXAMPLES
    parser.add_argument("capture", nargs="?", metavar="FILE", help="a capture to use instead")


def run(args: argparse.Namespace) -> int:
    paint = painter(sys.stdout)
    shipped = resources.files("zenlake.cli") / "demo_data" / "robot.pcapng"
    with resources.as_file(shipped) as path:
        capture = str(path) if args.capture is None else args.capture
        for title, words, lines_max in STEPS:
            _show(paint(f"# {title}", "bold"), [*words, capture], lines_max)
        for title, command in NEXT:
            if title:
                print(paint(f"# {title}", "bold"))
            print(f"$ zenlake {command.format(shlex.quote(capture))}")
    return 0


def _show(title: str, arguments: list[str], lines_max: int) -> None:
    """Print a command and the beginning of its output."""
    from zenlake.cli.main import build_parser

    parser, _ = build_parser(only=arguments[0])
    answer = io.StringIO()
    with contextlib.redirect_stdout(answer), contextlib.redirect_stderr(io.StringIO()):
        import_module(f"zenlake.cli.{arguments[0]}").run(parser.parse_args(arguments))
    found = answer.getvalue().splitlines()
    print("\n".join([title, f"$ zenlake {shlex.join(arguments)}", *found[:lines_max]]))
    if len(found) > lines_max:
        print(f"... {len(found) - lines_max:,} more lines")
    print()
