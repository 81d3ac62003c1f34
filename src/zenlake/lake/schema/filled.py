"""Whether a reader fills the columns that are declared, all of them and no others."""

from __future__ import annotations

from collections.abc import Collection

from zenlake.errors import ZenlakeError
from zenlake.lake.schema.table import Table


class SchemaError(ZenlakeError):
    """Our own mistake: a reader and the declaration of a table do not have the same columns."""


def check_filled(table: Table, filled: Collection[str], reader: str) -> None:
    """Columns that are computed from others are not for the reader to fill."""
    declared = table.base.names
    problems = [f"does not fill {name!r}" for name in declared if name not in filled]
    undeclared = [name for name in filled if name not in declared]
    problems += [f"fills {name!r}, which is not declared" for name in undeclared]
    if problems:
        raise SchemaError(f"{table.name}: the {reader} reader {', '.join(problems)}")
