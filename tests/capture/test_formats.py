"""Every capture format is known to both readers and named in the documents."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.paths import ROOT
from zenlake import capture

MODULES = Path(capture.__file__).parent
FORMATS = sorted(
    path.stem
    for path in MODULES.glob("*.py")
    if re.search(r"^MAGICS?\b", path.read_text(), re.MULTILINE)
)


def test_formats_are_found() -> None:
    assert FORMATS == ["pcap", "pcapng"]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    "opener",
    [MODULES / "files.py", MODULES.parent / "lake/fast_reader/scan/capture_file.py"],
    ids=lambda path: path.stem,
)
def test_reader_opens_the_format(opener: Path, format: str) -> None:
    assert re.search(rf"\b{format}\.MAGICS?\b", opener.read_text())


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("page", ["README.md", "docs/decode.md", "docs/lake.md"])
def test_page_names_the_format(page: str, format: str) -> None:
    assert re.search(rf"\b{format}\b", (ROOT / page).read_text())
