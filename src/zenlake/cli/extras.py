"""Extras: optional packages that some commands need."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from zenlake.errors import LocalError


@contextmanager
def needs_extra(command: str, extra: str) -> Iterator[None]:
    """Turn the ImportError of a missing package into an error message."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("zenlake"):
            raise
        wanted = f"zenlake {command} needs the {extra} extra: pip install 'zenlake[{extra}]'"
        raise LocalError(wanted) from None
