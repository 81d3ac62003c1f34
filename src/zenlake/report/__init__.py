"""The report: a lake as one HTML page that needs neither network nor server.

Each section is one file: `traffic`, `keys`, `queries`, ... query DuckDB for a bounded number of
rows; `page` puts them into a document with the scripts of `assets`, which draw and filter them.
"""

from __future__ import annotations

from zenlake.report.report import WrittenPage, collect, write
from zenlake.report.selection import Selection

__all__ = ["Selection", "WrittenPage", "collect", "write"]
