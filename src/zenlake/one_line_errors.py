"""One-line errors: our errors without the traceback of Spark's Python processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_SPARK_PROCESS: Final = "SPARK_PYTHON_RUNTIME"
"""Set in processes that Spark started."""
_HIDE_TRACEBACK: Final = "SPARK_HIDE_TRACEBACK"
"""Spark's setting, which it reads when it reports an error."""


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Hides the traceback that Spark would show: the message of our errors is enough."""
    from zenlake.errors import ZenlakeError

    try:
        yield
    except ZenlakeError as error:
        # The process ends after it reports this error, so no other traceback is hidden.
        if _SPARK_PROCESS in os.environ:
            os.environ[_HIDE_TRACEBACK] = "1"
        raise error.with_traceback(None) from None
