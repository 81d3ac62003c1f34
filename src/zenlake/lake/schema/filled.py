"""Checks that a reader fills all declared columns, and no others."""

from __future__ import annotations

from collections.abc import Collection

from zenlake.errors import ZenlakeError
from zenlake.lake.schema.table import Table


class SchemaError(ZenlakeError):
    """A bug: a reader and the declaration of a table do not have the same columns."""


def check_filled(table: Table, filled: Collection[str], reader: str) -> None:
    """Error that names the missing and undeclared columns. Computed columns are not filled."""
    declared = table.base.names
    problems = [f"does not fill {name!r}" for name in declared if name not in filled]
    undeclared = [name for name in filled if name not in declared]
    problems += [f"fills {name!r}, which is not declared" for name in undeclared]
    if problems:
        raise SchemaError(f"{table.name}: the {reader} reader {', '.join(problems)}")
