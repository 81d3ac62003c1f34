"""Numba keeps what it compiled, and looks only at the file of an entry to tell whether that is old.

So a file with entries carries a digest of the files of its parts, and changes when they do.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

import zenlake.lake.bulk

FOLDER = Path(zenlake.lake.bulk.__file__).parent
_IMPORT = re.compile(r"^\s*from zenlake\.lake\.bulk(?:\.(\w+))? import ([^(\n]*)", re.MULTILINE)
_DIGEST = re.compile(r"^# Parts: (\w+)$", re.MULTILINE)
ENTRIES = sorted(path for path in FOLDER.glob("*.py") if "\n@uncounted_entry\n" in path.read_text())


def parts_of(path: Path) -> set[Path]:
    """All files of the package that this one imports from, directly or not."""
    found: set[Path] = set()
    pending = [path]
    while pending:
        for module, names in _IMPORT.findall(pending.pop().read_text()):
            words = [module] if module else re.findall(r"^\w+|(?<=, )\w+", names)
            for word in words:
                part = FOLDER / f"{word}.py"
                if part.exists() and part not in found:
                    found.add(part)
                    pending.append(part)
    return found - {path}


def test_there_are_entries() -> None:
    names = {path.stem for path in ENTRIES}
    assert names == {"advance", "conversation", "pairs", "pcap_scan", "pcapng_scan"}
    assert {"segment", "numbers", "reasons"} <= {
        one.stem for one in parts_of(FOLDER / "advance.py")
    }


@pytest.mark.parametrize("path", ENTRIES, ids=lambda path: path.stem)
def test_the_digest_is_that_of_the_parts(path: Path) -> None:
    text = b"".join(
        # Their own digests say nothing new.
        _DIGEST.sub("", part.read_text()).encode()
        for part in sorted(parts_of(path))
    )
    digest = hashlib.sha256(text).hexdigest()[:16]
    found = _DIGEST.search(path.read_text())
    assert found is not None
    assert found[1] == digest, f"write `# Parts: {digest}` into {path.name}"
