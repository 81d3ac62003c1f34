"""Bundled captures as the fast reader needs them, and their surveys."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from tests.paths import CAPTURES
from zenlake.lake.fast_reader import Survey, survey

PATHS = sorted(path for path in CAPTURES.rglob("*") if ".pcap" in path.name)


def plain(path: Path | str, folder: Path) -> str:
    """The path of the capture, or of a decompressed copy in `folder`."""
    path = Path(path)
    if path.suffix != ".gz":
        return str(path)
    target = folder / path.stem
    target.write_bytes(gzip.decompress(path.read_bytes()))
    return str(target)


def surveyed(path: Path | str, **options: Any) -> Survey:
    """The survey of a capture that is not refused."""
    found = survey(str(path), **options)
    assert isinstance(found, Survey), found
    return found
