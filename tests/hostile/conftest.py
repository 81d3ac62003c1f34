"""These tests need what `pip install 'zenlake[lake]'` brings."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("pyarrow") and find_spec("duckdb") else ["test_*.py"]
