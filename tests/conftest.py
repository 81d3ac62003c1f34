"""Settings shared by all tests."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("default", deadline=None, derandomize=False, print_blob=True)
settings.register_profile("full", settings.get_profile("default"), max_examples=5_000)
settings.load_profile("full" if os.environ.get("ZENLAKE_FULL") == "1" else "default")
