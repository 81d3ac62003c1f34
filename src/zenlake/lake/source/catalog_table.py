"""Catalog tables: `CREATE TABLE ... USING zenoh`, and the options that its queries need.

Spark 4.3 passes the options of a table to a Python source only when the table is created, together
with other properties of the table. A query of the table passes only the columns that were inferred
at creation, with their metadata. So the options are stored in this metadata.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_OPTION: Final = "option."
"""Prefix of options among the properties of a table."""
_ADDED: Final = frozenset({"provider", "owner"})
"""Properties that identify a catalog table: readers do not have them."""
_LOCATION: Final = "location"
_PATH: Final = "path"
_KEPT: Final = "zenoh.options"


def options_of_table(properties: Mapping[str, str]) -> dict[str, str] | None:
    """The options from `OPTIONS` and `LOCATION`; None if `properties` are not those of a table."""
    found = {name.lower(): value for name, value in properties.items()}
    if not found.keys() >= _ADDED:
        return None
    options = {
        name.removeprefix(_OPTION): value
        for name, value in found.items()
        if name.startswith(_OPTION)
    }
    # `path` is another name of the location.
    if _LOCATION in found:
        options[_PATH] = found[_LOCATION]
    return options


def keep_options(schema: StructType, options: Mapping[str, str]) -> StructType:
    """The schema of the table with the options in its metadata, for `kept_options`."""
    first = schema.fields[0]
    first.metadata = {**(first.metadata or {}), _KEPT: json.dumps(dict(options))}
    return schema


def kept_options(schema: StructType) -> dict[str, str]:
    """The stored options; none if the user wrote the schema."""
    for field in schema.fields:
        if kept := (field.metadata or {}).get(_KEPT):
            options: dict[str, str] = json.loads(kept)
            return options
    return {}
