"""A damaged capture has stories or raises our own error; every line of output is printable."""

from __future__ import annotations

import gzip
from pathlib import Path
from random import Random

import pytest

from tests.chance import IS_FULL
from tests.why.bundled_stories import NAMES, path_of
from zenlake.cli.main import main

MUTANTS = 400 if IS_FULL else 8


@pytest.mark.parametrize("name", NAMES)
def test_damaged_capture_is_explained_without_a_crash(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    random = Random(name)
    whole = gzip.decompress(Path(path_of(name)).read_bytes())[:300_000]
    path = tmp_path / "damaged.pcapng"
    for number in range(MUTANTS):
        data = bytearray(whole)
        if number % 2:
            start = random.randrange(len(data))
            del data[start : start + random.randrange(1, 500)]
        for _ in range(10):
            data[random.randrange(len(data))] = random.randrange(256)
        path.write_bytes(data)
        assert main(["why", str(path), "--key", "**"]) in (0, 1, 2)
        assert all(line.isprintable() for line in capsys.readouterr().out.splitlines())
