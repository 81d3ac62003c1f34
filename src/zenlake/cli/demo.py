"""zenlake demo: a few messages that real nodes sent, bit by bit."""

from __future__ import annotations

import argparse
import sys

from zenlake.cli.output import painter
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
        "A publication that must not be dropped, in a frame of its own lane",
        "batch",
        "a5 90 ec ca 7f 31 01 fd 00 06 64 65 6d 6f 2f 61 21 19 01 01 31",
    ),
    (
        "A query for r/b?x=1;y=2 that gives up after 1.5 s",
        "network",
        "fc 01 00 03 72 2f 62 a1 0d 26 dc 0b 63 03 07 78 3d 31 3b 79 3d 32",
    ),
    (
        "The reply to another query: an error",
        "network",
        "fb 01 00 03 71 2f 61 a1 0d 43 07 40 50 40 30 20 10 06 45 08 03 62 61 64",
    ),
    (
        "What goes wrong when the last byte is missing",
        "network",
        "7d 00 06 64 65 6d 6f 2f 61 01 05 68 65 6c 6c",
    ),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = __doc__


def run(args: argparse.Namespace) -> int:
    paint = painter(sys.stdout)
    for title, form, text in MESSAGES:
        print(f"\n{paint(f'# {title}', 'bold')}")
        print(f"$ zenlake explain --as {form} {text}")
        for line in lines(explain(bytes.fromhex(text), form), paint):
            print(line)
    return 0
