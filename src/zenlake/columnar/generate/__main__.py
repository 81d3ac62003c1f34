"""Writes `columnar/_generated/kernels.py`; with `--check` it only reports whether it is current."""

from __future__ import annotations

import sys

from zenlake.columnar.generate.module import PACKAGE, module_source
from zenlake.generated_files import write_or_check

TARGET = PACKAGE / "_generated" / "kernels.py"


def main() -> int:
    return write_or_check({TARGET: module_source()}, "the definitions")


if __name__ == "__main__":
    sys.exit(main())
