"""Options of a reader, checked before anything is read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Final, NamedTuple

from zenlake.errors import LocalError
from zenlake.keyexpr import canonize
from zenlake.lake.plan.file_search import FileChoice, name_filter
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.table import Table
from zenlake.limits import OPTION_CHARACTERS_MAX
from zenlake.trace.fields import KINDS, is_of_kind

KNOWN: Final = (
    *("table", "since", "until", "key", "kind", "partitions"),
    *("pathGlobFilter", "recursiveFileLookup", "modifiedAfter", "modifiedBefore"),
    *("ignoreCorruptFiles", "ignoreMissingFiles"),
)
_PATHS: Final = ("path", "paths")
"""Spark's options for `load`: one path, or a JSON list of several."""
PARTITIONS_MAX: Final = 10_000


_TIMES: Final = (("time_ns", "time_ns"), ("first_ns", "last_ns"), ("from_ns", "to_ns"))
"""Pairs of columns with the begin and end of a row; the first pair that a table has is used."""
_NS_PER_S: Final = 1_000_000_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,19}")
_BIGINT_MAX: Final = (1 << 63) - 1
_FRACTION: Final = re.compile(r"(?<=:[0-9]{2})[.,]([0-9]{1,9})(?![0-9])")
_SHOWN_CHARACTERS: Final = 80


class Tolerance(NamedTuple):
    """Which files are skipped instead of failing the query."""

    corrupt: bool = False
    missing: bool = False


class Options(NamedTuple):
    """The captures and the table to read, and the conditions of rows."""

    table: Table
    paths: list[str]
    since_ns: int | None = None
    until_ns: int | None = None
    key: str | None = None
    kinds: frozenset[str] | None = None
    partitions: int | None = None
    files: FileChoice = FileChoice()
    tolerance: Tolerance = Tolerance()

    @property
    def times(self) -> tuple[str, str]:
        return next(pair for pair in _TIMES if set(pair) <= set(self.table.names))


def read_options(given: Mapping[str, str]) -> Options:
    """Parses options, whose names may be in any case; raises at the first invalid one."""
    options = {name.lower(): value for name, value in given.items()}
    check_names(options)
    table = _table(options.get("table", "messages"))
    found = Options(
        table=table,
        paths=_paths(options),
        since_ns=_time_ns(table, "since", options.get("since")),
        until_ns=_time_ns(table, "until", options.get("until")),
        key=_key(table, options.get("key")),
        kinds=_kinds(table, options.get("kind")),
        partitions=_partitions(options.get("partitions")),
        files=_file_choice(options),
        tolerance=Tolerance(
            flag("ignoreCorruptFiles", options), flag("ignoreMissingFiles", options)
        ),
    )
    since_ns, until_ns = found.since_ns, found.until_ns
    if since_ns is not None and until_ns is not None and since_ns > until_ns:
        raise LocalError("option since is later than until")
    return found


def has_path(given: Mapping[str, str]) -> bool:
    return any(name.lower() in _PATHS for name in given)


def check_names(given: Mapping[str, str], known: tuple[str, ...] = KNOWN) -> None:
    """Raises an error if an option is unknown or its value is too long."""
    names = {name.lower() for name in known}
    for name, value in given.items():
        if name.lower() not in names and name.lower() not in _PATHS:
            raise LocalError(f"there is no option {shown(name)}{_instead(name, known)}")
        if len(value) > OPTION_CHARACTERS_MAX:
            raise LocalError(f"option {name} is longer than {OPTION_CHARACTERS_MAX} characters")


def _table(name: str) -> Table:
    if name not in TABLES:
        raise LocalError(f"there is no table {shown(name)}{_instead(name, [*TABLES])}")
    return TABLES[name]


def _paths(options: Mapping[str, str]) -> list[str]:
    found: list[str] = []
    if "path" in options:
        found.append(options["path"])
    if "paths" in options:
        try:
            listed = json.loads(options["paths"])
        except (ValueError, RecursionError):
            listed = None
        if not isinstance(listed, list) or not all(isinstance(path, str) for path in listed):
            raise LocalError(f"paths is a list of texts in JSON, not {shown(options['paths'])}")
        found += listed
    if not found or not all(found):
        raise LocalError("no path: pass one or several files or folders to load()")
    for path in found:
        if "\0" in path:
            raise LocalError(f"{shown(path)} is no path: it has a zero byte")
    return found


def _time_ns(table: Table, name: str, text: str | None) -> int | None:
    if text is None:
        return None
    if not any(set(pair) <= set(table.names) for pair in _TIMES):
        raise LocalError(f"option {name}: rows of {table.name} have no time")
    return moment_ns(name, text)


def moment_ns(name: str, text: str) -> int:
    text = text.strip()
    if _NUMBER.fullmatch(text) and abs(int(text)) <= _BIGINT_MAX:
        return int(text)
    try:
        return _iso_ns(text)
    except (ValueError, OverflowError):
        hint = "nanoseconds since 1970, or a time such as 2026-11-14T22:01:42.5Z"
        raise LocalError(f"option {name} is {hint}, not {shown(text)}") from None


def _iso_ns(text: str) -> int:
    """The time, UTC by default. The fraction is parsed here: `datetime` has no nanoseconds."""
    fraction = _FRACTION.search(text)
    part_ns = 0
    if fraction is not None:
        part_ns = int(fraction[1].ljust(9, "0"))
        text = text[: fraction.start()] + text[fraction.end() :]
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    since = moment - _EPOCH
    return (since.days * 86_400 + since.seconds) * _NS_PER_S + since.microseconds * 1_000 + part_ns


def _key(table: Table, text: str | None) -> str | None:
    if text is None:
        return None
    if "key" not in table.names:
        raise LocalError(f"option key: rows of {table.name} have no key")
    return canonize(text)


def _kinds(table: Table, text: str | None) -> frozenset[str] | None:
    """Kinds, separated by commas; PUSH selects all kinds that begin with `PUSH/`."""
    if text is None:
        return None
    if "kind" not in table.names:
        raise LocalError(f"option kind: rows of {table.name} are all of one kind")
    # Kinds of `messages` are those of the protocol.
    known = table.column("kind").values or KINDS
    found: set[str] = set()
    for asked in text.split(","):
        name = asked.strip().upper()
        of_kind = [kind for kind in known if is_of_kind(kind.upper(), name)]
        if not of_kind:
            raise LocalError(f"{table.name} have no kind {shown(asked)}{_instead(name, known)}")
        found.update(of_kind)
    return frozenset(found)


def _partitions(text: str | None) -> int | None:
    if text is None:
        return None
    if not re.fullmatch("[0-9]{1,5}", text) or not 1 <= int(text) <= PARTITIONS_MAX:
        raise LocalError(f"option partitions is from 1 to {PARTITIONS_MAX}, not {shown(text)}")
    return int(text)


def _file_choice(options: Mapping[str, str]) -> FileChoice:
    names = options.get("pathglobfilter")
    if names is not None:
        name_filter(names)
    after, before = options.get("modifiedafter"), options.get("modifiedbefore")
    return FileChoice(
        name_filter=names,
        is_recursive=flag("recursiveFileLookup", options),
        modified_after_ns=None if after is None else moment_ns("modifiedAfter", after),
        modified_before_ns=None if before is None else moment_ns("modifiedBefore", before),
    )


def flag(name: str, options: Mapping[str, str], default: str = "false") -> bool:
    text = options.get(name.lower(), default)
    if text.lower() not in ("true", "false"):
        raise LocalError(f"option {name} is true or false, not {shown(text)}")
    return text.lower() == "true"


def _instead(name: str, known: tuple[str, ...] | list[str]) -> str:
    close = get_close_matches(name[:_SHOWN_CHARACTERS], known, n=1)
    hint = f" (did you mean {close[0]}?)" if close else ""
    return f"{hint}; there are: {', '.join(known)}"


def shown(text: str) -> str:
    return ascii(text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "...")
