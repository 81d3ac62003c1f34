"""Files that are written from a definition and checked in: write them, or say which are stale."""

from __future__ import annotations

import sys
from pathlib import Path


def is_fresh(path: Path, text: str) -> bool:
    return path.exists() and path.read_text("utf-8") == text


def write_or_check(files: dict[Path, str], origin: str) -> int:
    """The exit code of a generator; with `--check` it writes nothing.

    `origin` is what the files are written from: "the definitions".
    """
    if "--check" not in sys.argv[1:]:
        for path, text in files.items():
            path.write_text(text, "utf-8")
            print(f"wrote {path.name}")
        return 0
    stale = [path for path, text in files.items() if not is_fresh(path, text)]
    for path in stale:
        print(f"{path.name} is not what {origin} say: run `make generate`")
    return 1 if stale else 0
