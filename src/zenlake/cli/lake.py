"""zenlake lake: lists and drops the captures of a lake, and maintains its files."""

from __future__ import annotations

import argparse
from typing import Any, Final

from zenlake.cli.cells import time_text
from zenlake.cli.extras import needs_extra
from zenlake.cli.output import print_json, print_lines, safe
from zenlake.cli.table import table_lines
from zenlake.errors import LocalError
from zenlake.lake.address import parse
from zenlake.lake.errors import did_you_mean
from zenlake.lake.publish.manifest import CaptureEntry, Manifest
from zenlake.limits import LAKE_RETENTION_HOURS_MAX

EXAMPLES = f"""examples:
  zenlake lake ls --lake robots.lake
  zenlake lake ls --lake s3://bucket/robots.lake --json
  zenlake lake drop --lake robots.lake captures/monday.pcapng
  zenlake lake compact --lake robots.lake
  zenlake lake vacuum --lake robots.lake --retain 24

compact merges small files of each table; rows do not change. A run of the pipeline that leaves many
small files does this itself. vacuum deletes files of killed runs, and those that no version of the
last hours needs; by default readers of a replaced version have {LAKE_RETENTION_HOURS_MAX} hours.
exit codes: 0 done; 2 no such lake, or no such capture in it (then nothing is dropped)
"""
_COUNTED: Final = ("messages", "sessions", "samples", "queries", "hops")
"""`hops` are the rows of `queries`: one for each link that a query crossed."""
_COLUMNS: Final = ("capture", *_COUNTED, "first", "last", "bytes", "sha256", "read")
_SHA256_DIGITS: Final = 12
_RETAIN_HOURS_MAX: Final = 24 * 366 * 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    operations = parser.add_subparsers(dest="operation", metavar="OP", required=True)
    ls = operations.add_parser("ls", help="list the captures in a lake")
    drop = operations.add_parser("drop", help="remove captures, all in one step")
    compact = operations.add_parser("compact", help="merge small files")
    vacuum = operations.add_parser("vacuum", help="delete files that no recent version needs")
    for operation in (ls, drop, compact, vacuum):
        operation.description = "Exit codes and examples: zenlake lake --help."
        operation.add_argument("--lake", required=True, metavar="DIR", help="the lake's folder")
        operation.add_argument("--json", action="store_true", help="one JSON object a line")
    drop.add_argument("captures", nargs="+", metavar="CAPTURE", help="paths or addresses")
    vacuum.add_argument(
        "--retain",
        type=_hours,
        default=LAKE_RETENTION_HOURS_MAX,
        metavar="HOURS",
        help=f"keep versions that were current within them (default {LAKE_RETENTION_HOURS_MAX})",
    )


def _hours(text: str) -> int:
    if not text.isdecimal() or len(text) > 6 or int(text) > _RETAIN_HOURS_MAX:
        raise argparse.ArgumentTypeError(f"not a number of hours: {text!r}")
    return int(text)


def run(args: argparse.Namespace) -> int:
    with needs_extra("lake", "sql"):
        from zenlake.lake.publish.store import Store
    store = Store(args.lake)
    # For `drop` as well: it must not create a lake.
    manifest = store.snapshot().manifest
    if args.operation == "ls":
        _list(manifest, args.json)
    elif args.operation == "drop":
        _drop(store, args.captures, args.json)
    elif args.operation == "compact":
        _compact(store, args.json)
    else:
        _vacuum(store, args.retain, args.json)
    return 0


def _list(manifest: Manifest, as_json: bool) -> None:
    facts = [_facts(entry) for entry in manifest.captures.values()]
    if as_json:
        for fact in facts:
            print_json(fact)
        return
    right = [name in (*_COUNTED, "bytes") for name in _COLUMNS]
    print_lines(table_lines(_COLUMNS, map(_cells, facts), right))


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


def _drop(store: Any, captures: list[str], as_json: bool) -> None:
    with store.begin() as change:
        manifest = store.manifest()
        names = [_name_in(manifest, capture, store) for capture in captures]
        version = change.publish(remove=set(names))
    for capture in dict.fromkeys(names):
        if as_json:
            print_json({"dropped": capture, "version": version})
        else:
            print(f"dropped {safe(capture)}")


def _name_in(manifest: Manifest, capture: str, store: Any) -> str:
    """The name that a capture has in the lake, where it is given by name or by its address."""
    if capture in manifest.captures:
        return capture
    try:
        name = manifest.name_at(str(parse(capture)))
    except LocalError:
        name = ""  # a name that is no address
    if not name:
        hint = did_you_mean(capture, manifest.captures)
        raise LocalError(f"{store.given}: no capture {capture!r}{hint}")
    return name


def _compact(store: Any, as_json: bool) -> None:
    before = _file_count(store)
    with store.begin() as change:
        version = change.compact()
    after = _file_count(store)
    if as_json:
        print_json({"version": version, "files_before": before, "files_after": after})
    else:
        print(f"{before:,} files before, {after:,} after")


def _file_count(store: Any) -> int:
    snapshot = store.snapshot()
    return sum(len(snapshot.addresses(table)) for table in snapshot.manifest.tables)


def _vacuum(store: Any, hours: int, as_json: bool) -> None:
    with store.begin() as change:
        deleted = change.vacuum(hours)
    count = sum(deleted.values())
    if as_json:
        print_json({"deleted": count, "by_table": {k: v for k, v in deleted.items() if v}})
    else:
        print(f"{count:,} files deleted")
