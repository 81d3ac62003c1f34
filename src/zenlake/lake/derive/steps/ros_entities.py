"""ROS entities: the liveliness tokens of ROS 2, one row for each lifetime in `declarations`.

Only keys with the chunk that all such tokens have are parsed; there are few of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from zenlake.lake.derive.steps.conform import conform, query
from zenlake.lake.schema import TABLES
from zenlake.ros.gid import gid_of
from zenlake.ros.token import MARK, RMW_ZENOH, Entity, read_token

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# `first_told` marks one row for each token, which is announced on several links.
_TOKENS: Final = f"""
SELECT capture, session, link, packet, time_ns, sender_zid AS told_by_zid,
    receiver_zid AS told_to_zid, key AS token, declared_ns, undeclared_ns, ended_by, seq,
    row_number() OVER (PARTITION BY capture, key ORDER BY seq, session) = 1 AS first_told
FROM {{declarations}}
WHERE entity = 'token' AND contains(key, '{MARK}')
"""
_TABLE: Final = TABLES["ros_entities"].base
_NO_TOKEN: Final = "it only looks like a token of ROS"


def build(declarations: DataFrame) -> DataFrame:
    """From the published table."""
    tokens = query(_TOKENS, declarations=declarations)
    columns = ", ".join(f"{column.name} {column.type}" for column in _TABLE.columns)
    return conform(tokens.mapInArrow(_read, columns), _TABLE)


def _read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rows = [{**row, **_fields(row["token"])} for row in batch.to_pylist()]
        # Spark does not expect the comments of columns here.
        yield pa.RecordBatch.from_pylist(rows, _TABLE.arrow.remove_metadata())


def _fields(token: str) -> dict[str, Any]:
    entity = read_token(token)
    if entity is None:
        return {"unread": _NO_TOKEN}
    return {**entity._asdict(), **entity.policies._asdict(), "gid": _gid(entity)}


def _gid(entity: Entity) -> str | None:
    return gid_of(entity.own_key) if entity.source == RMW_ZENOH else None
