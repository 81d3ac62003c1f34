"""A folder for the module search path of the Python processes that Spark starts on this machine.

Python imports `sitecustomize` from it when it starts, before anything of Spark.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

FOLDER: Final = str(Path(__file__).parent)
