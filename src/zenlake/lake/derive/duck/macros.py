"""Macros: functions of Spark that DuckDB lacks."""

from __future__ import annotations

from typing import Final

MACROS: Final = (
    # In Spark the number of digits is an argument; in DuckDB it is part of the format.
    """CREATE MACRO format_number(number, digits) AS CASE digits
        WHEN 0 THEN format('{:,.0f}', CAST(number AS DOUBLE))
        WHEN 1 THEN format('{:,.1f}', CAST(number AS DOUBLE))
        WHEN 2 THEN format('{:,.2f}', CAST(number AS DOUBLE))
        ELSE error('format_number of so many digits')
        END""",
)
