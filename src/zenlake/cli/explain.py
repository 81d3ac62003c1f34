"""zenlake explain: decodes bytes bit by bit."""

from __future__ import annotations

import argparse
import sys

from zenlake.cli.hex_input import parse_hex
from zenlake.cli.output import painter, print_json
from zenlake.wire.explain import FORMS, explain, to_json
from zenlake.wire.explain_text import lines

EXAMPLES = """examples:
  zenlake explain 7d 00 06 64 65 6d 6f 2f 61 01 05 68 65 6c 6c 6f
  zenlake explain --as batch 25 90 ec ca 7f 7d 00 01 61 01 01 31
  xxd -p message.bin | zenlake explain -
  zenlake explain --as vle ffffffffffffffffff

exit codes: 0 all bytes decoded; 1 decoding failed, at the place shown; 2 wrong arguments
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.add_argument(
        "hex",
        nargs="+",
        metavar="HEX",
        help="hexadecimal bytes or a hex dump; - reads standard input",
    )
    parser.add_argument(
        "--as",
        dest="form",
        default="auto",
        choices=["auto", *FORMS],
        metavar="FORM",
        help=f"what the bytes are: {', '.join(FORMS)} (default: the form that decodes most)",
    )
    parser.add_argument(
        "--dialect",
        default="deployed",
        choices=["deployed", "pages"],
        help="layouts of deployed nodes (default), or of the spec pages where they differ",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")


def run(args: argparse.Namespace) -> int:
    text = sys.stdin.read() if args.hex == ["-"] else " ".join(args.hex)
    found = explain(parse_hex(text), args.form, args.dialect)
    if args.json:
        print_json(to_json(found))
    else:
        for line in lines(found, painter(sys.stdout)):
            print(line)
    return 0 if found.failure is None else 1
