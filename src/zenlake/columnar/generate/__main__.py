"""Writes `columnar/_generated/kernels.py`; with `--check` it only says whether it is fresh."""

from __future__ import annotations

import sys
from pathlib import Path

from zenlake.columnar.generate.module import PACKAGE, module_source

TARGET = PACKAGE / "_generated" / "kernels.py"


def is_fresh(path: Path = TARGET) -> bool:
    return path.exists() and path.read_text("utf-8") == module_source()


def main() -> int:
    if "--check" in sys.argv[1:]:
        if not is_fresh():
            print(f"{TARGET.name} is not what the definitions say: run `make generate`")
            return 1
        return 0
    TARGET.write_text(module_source(), "utf-8")
    print(f"wrote {TARGET.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
