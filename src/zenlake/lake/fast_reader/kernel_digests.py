"""Writes a digest of the imported parts into each file with a kernel; `--check` only compares.

Numba caches compiled kernels on disk and recompiles one only when its own file changes. A change in
an imported file would go unnoticed. The digest changes the file of the kernel as well.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path
from typing import Final

from zenlake.generated_files import write_or_check

SOURCES: Final = Path(__file__).parents[3]
_IMPORT: Final = re.compile(
    r"^\s*from (zenlake\.lake[\w.]*|zenlake\.columnar\.(?:sip_hash|intern)"
    r"|zenlake\.wire\.(?:defaults|sequence)) import ([^(\n]*)",
    re.MULTILINE,
)
_DIGEST: Final = re.compile(r"^# Parts: (\w*)$", re.MULTILINE)


def entry_files() -> list[Path]:
    """Files with a compiled kernel. The decoder is generated and has a digest of its own."""
    found = sorted(
        path
        for path in (SOURCES / "zenlake" / "lake").rglob("*.py")
        if "\n@uncounted_entry\n" in path.read_text("utf-8")
    )
    return [*found, SOURCES / "zenlake" / "columnar" / "intern.py"]


def parts_of(path: Path) -> set[Path]:
    """Files that this file imports, directly or indirectly: of the lake, and those of `_IMPORT`."""
    found: set[Path] = set()
    pending = [path]
    while pending:
        for module, names in _IMPORT.findall(pending.pop().read_text("utf-8")):
            package = SOURCES.joinpath(*module.split("."))
            words = re.findall(r"^\w+|(?<=, )\w+", names)
            for part in (package.with_suffix(".py"), *(package / f"{word}.py" for word in words)):
                if part.exists() and part not in found:
                    found.add(part)
                    pending.append(part)
    return found - {path}


def with_digest(path: Path) -> str:
    """The text of the file with the digest of its parts in the first line."""
    # Digests in the parts are left out: this digest covers the same files.
    text = "".join(_DIGEST.sub("", part.read_text("utf-8")) for part in sorted(parts_of(path)))
    line = f"# Parts: {hashlib.sha256(text.encode()).hexdigest()[:16]}"
    source = path.read_text("utf-8")
    return _DIGEST.sub(line, source, 1) if _DIGEST.search(source) else f"{line}\n{source}"


def main() -> int:
    return write_or_check({path: with_digest(path) for path in entry_files()}, "its parts")


if __name__ == "__main__":
    sys.exit(main())
