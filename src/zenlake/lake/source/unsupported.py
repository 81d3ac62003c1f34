"""Unsupported: errors for parts of Spark's interface that this source does not implement."""

from __future__ import annotations

from typing import Final

from zenlake.errors import LocalError

NO_WRITER: Final = (
    'format("zenoh") reads captures and does not write: a table USING zenoh is read only'
)


def writing_refused() -> LocalError:
    return LocalError(NO_WRITER)
