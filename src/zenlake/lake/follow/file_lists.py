"""Lists of files by table, as tasks return them."""

from __future__ import annotations

import hashlib
from typing import Any

Files = dict[str, list[dict[str, Any]]]


def by_table(files: list[dict[str, Any]]) -> Files:
    found: Files = {}
    for file in files:
        found.setdefault(file["table"], []).append(file)
    return found


def together(one: Files, other: Files) -> Files:
    return {table: [*one.get(table, ()), *other.get(table, ())] for table in {**one, **other}}


def rows(files: Files, table: str) -> int:
    return sum(int(file["rows"]) for file in files.get(table, ()))


def paths(files: Files, table: str) -> list[str]:
    return [str(file["path"]) for file in files.get(table, ())]


def query_sums(*counts: dict[str, int]) -> dict[str, int]:
    return {name: sum(one.get(name, 0) for one in counts) for name in ("queries", "hops")}


def without(found: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name not in names}


def digest(files: list[dict[str, Any]]) -> str:
    """The SHA-256 of the content of the files."""
    found = hashlib.sha256()
    for file in files:
        with open(file["path"], "rb") as content:
            found.update(content.read())
    return found.hexdigest()
