"""The version text of this implementation in the admin space."""

from __future__ import annotations

from functools import cache
from platform import python_version


@cache
def version_text() -> str:
    """The version in the form of official nodes: `v1.10.2-... built with rustc ...`."""
    from zenlake import __version__

    return f"zenlake v{__version__} on Python {python_version()}"
