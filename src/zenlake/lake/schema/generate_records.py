"""The source code of the exact reader's records: a class for each table of `WRITTEN`.

`zenlake.trace` makes these records and cannot import the lake, so they are written into its folder.
A record takes its columns by name, without defaults: the type checker finds code that forgets a
column or has an undeclared one, and it fails when it makes a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from zenlake.lake.schema.table import BIGINT, BINARY, BOOLEAN, DOUBLE, STRING, Table
from zenlake.lake.schema.written import NODE, SESSION, WRITTEN, references_of

TARGET: Final = Path(__file__).parents[2] / "trace" / "rows" / "_generated" / "records.py"

_TYPES: Final = {
    BIGINT: "int",
    BINARY: "bytes",
    BOOLEAN: "bool",
    DOUBLE: "float",
    STRING: "str",
    SESSION: "Session",
    NODE: "Node",
}
_CAPTURE: Final = "capture"
_HEAD: Final = '''"""Records of the exact reader: a row of each table that reading a capture gives.

GENERATED from zenlake/lake/schema by `make generate`. Do not edit.
"""

from __future__ import annotations

from typing import ClassVar, Final

from zenlake._mypyc import mypyc_attr
from zenlake.trace.rows.record import Record, SessionRecord
from zenlake.trace.session import Node, Session
'''


def class_name(table: str) -> str:
    """`exchange_events` has rows of the class ExchangeEventsRow."""
    return "".join(word.capitalize() for word in table.split("_")) + "Row"


def record_types(table: Table) -> dict[str, str]:
    """The Python type of each column but `capture`, which is the same in all rows."""
    references = references_of(table)
    return {
        column.name: _TYPES[references.get(column.name, column.type)]
        for column in table.base.columns
        if column.name != _CAPTURE
    }


def module_source(tables: Iterable[Table] = tuple(WRITTEN.values())) -> str:
    tables = list(tables)
    lines = [_HEAD]
    for table in tables:
        lines += _class_lines(table)
    lines += ["", "RECORDS: Final[dict[str, type[Record]]] = {"]
    lines += [f'    "{table.name}": {class_name(table.name)},' for table in tables]
    return "\n".join([*lines, "}"]) + "\n"


def _class_lines(table: Table) -> Iterator[str]:
    types = record_types(table)
    is_referring = bool(references_of(table))
    yield ""
    yield "@mypyc_attr(acyclic=True)"
    yield f"class {class_name(table.name)}({'SessionRecord' if is_referring else 'Record'}):"
    yield f'    """A row of `{table.name}`."""'
    yield ""
    yield "    __slots__ = ("
    for name in sorted(types):
        if not (is_referring and name == SESSION):  # SessionRecord already has this slot
            yield f'        "{name}",'
    yield "    )"
    yield f'    TABLE: ClassVar[str] = "{table.name}"'
    yield "    COLUMNS: ClassVar[tuple[str, ...]] = ("
    yield from (f'        "{name}",' for name in types)
    yield "    )"
    yield ""
    yield "    def __init__("
    yield "        self,"
    yield "        *,"
    yield from (f"        {name}: {type} | None," for name, type in types.items())
    yield "    ) -> None:"
    yield from (f"        self.{name} = {name}" for name in types)
    yield ""
