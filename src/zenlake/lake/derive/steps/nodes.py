"""Nodes: all nodes that a capture shows, with role, locators and addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.lake.derive.steps.conform import conform, query
from zenlake.lake.schema import TABLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The latest role; all locators and addresses that a node had.
_SQL: Final = """
WITH united AS (
    SELECT capture, zid,
        max(CASE WHEN role IS NOT NULL THEN struct(last_ns, first_ns, role) END).role AS role,
        array_sort(array_distinct(flatten(collect_set(split(trim(locators), ' +'))))) AS locators,
        array_join(array_sort(collect_set(address)), ' ') AS addresses,
        min(first_ns) AS first_ns,
        max(last_ns) AS last_ns
    FROM {events}
    GROUP BY capture, zid
)
SELECT * EXCEPT (locators, addresses), nullif(addresses, '') AS addresses,
    nullif(trim(array_join(locators, ' ')), '') AS locators
FROM united
"""


def build(node_events: DataFrame) -> DataFrame:
    """From the staged events."""
    return conform(query(_SQL, events=node_events), TABLES["nodes"])
