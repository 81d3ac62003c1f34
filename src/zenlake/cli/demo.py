"""zenlake demo: a capture as `decode` shows it, and a few messages bit by bit."""

from __future__ import annotations

import argparse
import contextlib
import io
import sys

from zenlake.cli.output import painter
from zenlake.errors import ZenlakeError
from zenlake.wire.explain import explain
from zenlake.wire.explain_text import lines

# Sent by eclipse-zenoh 1.10.2.
MESSAGES = (
    (
        "A client asks a router for a session",
        "batch",
        "c1 09 42 50 40 30 20 10 0a c8 ff 81 27 01",
    ),
    (
        "A query for r/b?x=1;y=2 that gives up after 1.5 s",
        "network",
        "fc 01 00 03 72 2f 62 a1 0d 26 dc 0b 63 03 07 78 3d 31 3b 79 3d 32",
    ),
    (
        "What goes wrong when the last byte is missing",
        "network",
        "7d 00 06 64 65 6d 6f 2f 61 01 05 68 65 6c 6c",
    ),
)
# What is asked of the capture, and how many lines of the answer are shown.
QUESTIONS: tuple[tuple[str, tuple[str, ...], int], ...] = (
    ("What is in this capture?", ("--count",), 40),
    ("Who said what?", ("--where", "packet > 36"), 20),
    ("Which replies were errors?", ("--where", "kind == RESPONSE/ERR"), 6),
    ("What became of query 20?", ("--follow", "20"), 8),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = __doc__
    parser.add_argument("capture", nargs="?", metavar="FILE", help="a capture to show as well")


def run(args: argparse.Namespace) -> int:
    paint = painter(sys.stdout)
    if args.capture is not None:
        for title, options, lines_max in QUESTIONS:
            print(f"\n{paint(f'# {title}', 'bold')}")
            _show(["decode", *options, args.capture], lines_max)
    for title, form, text in MESSAGES:
        print(f"\n{paint(f'# {title}', 'bold')}")
        print(f"$ zenlake explain --as {form} {text}")
        for line in lines(explain(bytes.fromhex(text), form), paint):
            print(line)
    return 0


def _show(arguments: list[str], lines_max: int) -> None:
    """A command as it is typed, and the beginning of what it prints."""
    from zenlake.cli.decode import run as decode
    from zenlake.cli.main import build_parser

    typed = " ".join(f"'{one}'" if " " in one else one for one in arguments)
    print(f"$ zenlake {typed}")
    parser, _ = build_parser(only="decode")
    answer = io.StringIO()
    with contextlib.redirect_stdout(answer), contextlib.redirect_stderr(io.StringIO()):
        try:
            decode(parser.parse_args(arguments))
        except ZenlakeError as error:
            print(error)
    found = answer.getvalue().splitlines()
    print("\n".join(found[:lines_max]))
    if len(found) > lines_max:
        print(f"... {len(found) - lines_max:,} more lines")
