"""zenlake lake: which captures are in a lake, and taking them out."""

from __future__ import annotations

import argparse
import difflib
import sys
from typing import Any, Final

from zenlake.cli.cells import time_text
from zenlake.cli.output import Lines, print_json, safe
from zenlake.cli.table import table_lines
from zenlake.errors import LocalError
from zenlake.lake.store import CaptureEntry, Manifest, Store

EXAMPLES = """examples:
  zenlake lake ls --lake robots.lake
  zenlake lake ls --lake robots.lake --json
  zenlake lake drop --lake robots.lake captures/monday.pcapng

exit codes: 0 done; 2 no lake there, or no such capture in it (then nothing is dropped)
"""
_COUNTED: Final = ("messages", "sessions", "samples", "queries", "hops")
"""`hops` are the rows of `queries`: one for each link that a query crossed."""
_COLUMNS: Final = ("capture", *_COUNTED, "first", "last", "bytes", "sha256", "read")
_SHA256_DIGITS: Final = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    operations = parser.add_subparsers(dest="operation", metavar="OP", required=True)
    ls = operations.add_parser("ls", help="the captures in a lake")
    drop = operations.add_parser("drop", help="take captures out, all in one step")
    for operation in (ls, drop):
        operation.description = "Exit codes and examples: zenlake lake --help."
        operation.add_argument("--lake", required=True, metavar="DIR", help="the lake's folder")
        operation.add_argument("--json", action="store_true", help="one JSON object a line")
    drop.add_argument("captures", nargs="+", metavar="CAPTURE", help="paths as `ls` shows them")


def run(args: argparse.Namespace) -> int:
    store = Store(args.lake)
    # Also where it is to be changed: dropping from nothing must not make a lake.
    manifest = store.snapshot().manifest
    if args.operation == "ls":
        _list(manifest, args.json)
    else:
        _drop(store, args.captures, args.json)
    return 0


def _list(manifest: Manifest, as_json: bool) -> None:
    facts = [_facts(entry) for entry in manifest.captures.values()]
    if as_json:
        for fact in facts:
            print_json(fact)
        return
    lines = Lines(sys.stdout)
    right = [name in (*_COUNTED, "bytes") for name in _COLUMNS]
    for line in table_lines(_COLUMNS, map(_cells, facts), right):
        lines.add(line)
    lines.flush()


def _facts(entry: CaptureEntry) -> dict[str, Any]:
    return {
        "capture": entry.path,
        **{table: entry.rows.get(table, 0) for table in ("messages", "sessions", "samples")},
        "queries": entry.info.get("queries") if entry.rows.get("queries") else 0,
        "hops": entry.rows.get("queries", 0),
        "first_ns": entry.info.get("first_ns"),
        "last_ns": entry.info.get("last_ns"),
        "size": entry.size,
        "sha256": entry.sha256,
        "read_ns": entry.info.get("read_ns"),
    }


def _cells(fact: dict[str, Any]) -> list[str]:
    return [
        safe(fact["capture"]),
        *("-" if fact[name] is None else f"{fact[name]:,}" for name in _COUNTED),
        time_text(fact["first_ns"]),
        time_text(fact["last_ns"]),
        f"{fact['size']:,}",
        fact["sha256"][:_SHA256_DIGITS],
        time_text(fact["read_ns"]),
    ]


def _drop(store: Store, captures: list[str], as_json: bool) -> None:
    with store.begin() as change:
        present = store.manifest().captures
        for capture in captures:
            if capture not in present:
                raise LocalError(
                    f"{store.directory}: no capture {capture!r}{_hint(capture, present)}"
                )
        version = change.publish(remove=set(captures))
    for capture in dict.fromkeys(captures):
        if as_json:
            print_json({"dropped": capture, "version": version})
        else:
            print(f"dropped {safe(capture)}")


def _hint(capture: str, present: Any) -> str:
    near = difflib.get_close_matches(capture, present, n=1)
    return f", did you mean {near[0]!r}?" if near else ""
