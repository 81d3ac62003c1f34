"""These tests need the packages of `pip install 'zenlake[lake]'`."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("numpy") and find_spec("pyarrow") else ["test_*.py"]
