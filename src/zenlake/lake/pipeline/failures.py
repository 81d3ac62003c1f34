"""Failures: shortens Spark's long error messages to one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from zenlake.lake.errors import LakeError

_CAUSED: Final = re.compile(r"^(?:Caused by)?: (?:[\w.$]+: )*(.*)", re.MULTILINE)
"""A cause in a Java stack trace; the last one listed is the root cause."""


@contextmanager
def one_line_spark_errors() -> Iterator[None]:
    """Raises errors of Spark as LakeError."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException, PythonException

    try:
        yield
    except PythonException as error:
        # The last line of a Python traceback has the error.
        text = str(error).partition("\n\nJVM stacktrace")[0].rstrip()
        raise LakeError(f"a task of Spark failed: {text.splitlines()[-1].strip()}") from error
    except (PySparkException, Py4JError) as error:
        # Some causes have only a class name.
        causes = [cause for cause in _CAUSED.findall(str(error)) if " " in cause]
        cause = causes[-1] if causes else " ".join(str(error).split())
        raise LakeError(f"Spark failed: {cause}") from error
