"""The `zenlake` command: runs a subcommand, and turns errors into one line and an exit code.

Exit codes: 0 done; 1 done, and the answer is negative; 2 the arguments are wrong or the input
cannot be read at all. Only the subcommand that runs is imported.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from typing import NoReturn

from zenlake.cli.interrupts import INTERRUPTED, raising_interrupts
from zenlake.cli.output import print_error
from zenlake.cli.standard_output import NO_ROOM, StandardOutput, discard_output
from zenlake.cli.uncompiled_notice import show_uncompiled_notice
from zenlake.cli.version import ShowVersion
from zenlake.errors import ZenlakeError

COMMANDS = {
    "router": "run a Zenoh router, or explain where a running router sends a key",
    "record": "record what a network publishes into a folder of captures",
    "up": "run a router, its traffic as tables, and a page about them",
    "decode": "print every message of a capture, one per line",
    "check": "find violations of the protocol in a capture",
    "explain": "decode bytes bit by bit and label them",
    "ke": "compare and canonize key expressions",
    "why": "explain what failed in a capture or lake, and why",
    "pipeline": "read captures into the tables of a lake, on Spark",
    "sql": "query the tables of captures or of a lake",
    "report": "write an HTML page with plots about captures or a lake",
    "lake": "list the captures in a lake, or drop some",
    "demo": "show what failed in a capture that comes with the package",
    "completion": "print a completion script for a shell",
}
EPILOG = """examples:
  zenlake demo
  zenlake router -l tcp/[::]:7447
  zenlake record -e tcp/localhost:7447 -k 'robot/**' robots.recording
  zenlake up -l tcp/[::]:7447
  zenlake decode --where 'key ~ robot/**' capture.pcapng
  zenlake check capture.pcapng
  zenlake explain 7d 00 06 64 65 6d 6f 2f 61 01 05 68 65 6c 6c 6f
  zenlake ke intersects 'robot/*/pose' 'robot/**'
  zenlake why capture.pcapng --key 'robot/**'
  zenlake pipeline capture.pcapng --lake robots.lake
  zenlake sql capture.pcapng 'SELECT kind, count(*) FROM messages GROUP BY kind'
  zenlake report capture.pcapng
  zenlake COMMAND --help
"""


class _Parser(argparse.ArgumentParser):
    """Reports an error in one line."""

    def error(self, message: str) -> NoReturn:
        print_error(f"{message} (see {self.prog} --help)")
        sys.exit(2)


def build_parser(
    only: str | None = None,
) -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """The parser and those of the subcommands; only that of `only` gets arguments, if given."""
    parser = _Parser(
        prog="zenlake",
        description="The Zenoh protocol, from the wire to the lake.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=ShowVersion)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    parsers: dict[str, argparse.ArgumentParser] = {}
    for name, summary in COMMANDS.items():
        parsers[name] = commands.add_parser(
            name,
            help=summary,
            description=summary[0].upper() + summary[1:] + ".",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if only is None or only == name:
            import_module(f"zenlake.cli.{name}").add_arguments(parsers[name])
    return parser, parsers


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    try:
        return call(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED


def call(arguments: list[str] | None = None) -> int:
    """Like `main`, but a KeyboardInterrupt is raised."""
    output = StandardOutput()
    try:
        try:
            if arguments is None:
                return _run(sys.argv[1:], is_own_process=True)
            return _run(arguments)
        finally:
            sys.stdout.flush()
    except ZenlakeError as error:
        print_error(str(error))
        return 2
    except BrokenPipeError:
        discard_output()  # the reader closed the pipe
        return 0
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        output.cut_off()
        print_error(f"{error.filename or 'standard output'} cannot be written: {error.strerror}")
        return 2


def _run(arguments: list[str], is_own_process: bool = False) -> int:
    """`is_own_process` allows a command to change settings of the whole process."""
    parser, _ = build_parser(only=next((word for word in arguments if word in COMMANDS), ""))
    args, rest = parser.parse_known_args(arguments)
    _add_words(parser, args, rest)
    args.is_own_process = is_own_process
    if args.command is None:
        parser.print_help()
        return 2
    command = import_module(f"zenlake.cli.{args.command}")
    if is_own_process:
        show_uncompiled_notice(args)
    with raising_interrupts():
        code: int = command.run(args)
    return code


def _add_words(parser: argparse.ArgumentParser, args: argparse.Namespace, rest: list[str]) -> None:
    """Add positional arguments after an option (`sql a.pcap --json SQL`), which argparse returns.

    `words_go_to` of a command names the list that gets them.
    """
    target = getattr(args, "words_go_to", None)
    options = [word for word in rest if word.startswith("-") and word != "-" and " " not in word]
    if rest and (target is None or options):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        getattr(args, str(target)).extend(rest)


if __name__ == "__main__":
    from zenlake.cli.__main__ import run

    run()
