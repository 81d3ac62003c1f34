"""Settings shared by all tests."""

from __future__ import annotations

from hypothesis import settings

from tests.chance import IS_FULL

settings.register_profile("default", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("full", deadline=None, print_blob=True, max_examples=5_000)
settings.load_profile("full" if IS_FULL else "default")
