"""These tests need the dependencies of `pip install 'zenlake[lake]'`."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("numpy") else ["test_*.py"]
