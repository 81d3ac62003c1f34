"""Spark's long error messages in one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from zenlake.lake.errors import LakeError

_CAUSED: Final = re.compile(r"^(?:Caused by)?: (?:[\w.$]+: )*(.*)", re.MULTILINE)
"""Java lists the causes of an error; the last one is the first cause."""


@contextmanager
def one_line_spark_errors() -> Iterator[None]:
    """Errors of Spark become a LakeError."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # it ships no types
    from pyspark.errors import PySparkException, PythonException

    try:
        yield
    except PythonException as error:
        # The last line of a Python traceback has the error.
        text = str(error).partition("\n\nJVM stacktrace")[0].rstrip()
        raise LakeError(f"a task of Spark failed: {text.splitlines()[-1].strip()}") from error
    except (PySparkException, Py4JError) as error:
        # Some causes are only the name of a class.
        causes = [cause for cause in _CAUSED.findall(str(error)) if " " in cause]
        cause = causes[-1] if causes else " ".join(str(error).split())
        raise LakeError(f"Spark failed: {cause}") from error
