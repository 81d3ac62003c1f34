"""One run over all inputs that are hard to read, into a lake that another version wrote."""

from __future__ import annotations

import gzip
import io
import os
import random
import shutil
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.chance import IS_FULL
from tests.lake.comparison import counts
from tests.lake.faults.captures import A, B
from tests.lake.faults.poison import far_away, poisoned, too_large
from zenlake.cli.main import main
from zenlake.lake.publish import Store

LAKE_NAME = "la*ke [1] {a,b}?"
ODD_NAME = 'it\'s a "capture" [2] ü, %20.pcapng.gz'
NO_TEXT_NAME = os.fsdecode(b"caf\xe9.pcapng.gz")
PCAP_MAGIC = bytes.fromhex("d4c3b2a1")
LOST = {
    "messages": "detail",
    "queries": "verdict",
    "declarations": "told",
    "sessions": "patch",
    "captures": "bytes",
}
"""For each table, a column that an older writer did not have."""
NEW = "of_a_later_writer"


@dataclass
class RoughRun:
    lake: Path
    folder: Path
    bad: dict[str, str]
    """The expected error by path; empty for files that are read as far as possible."""
    before: dict[str, int]
    plain: Path
    """A copy of the capture under an ordinary name."""
    code: int = 0
    complaints: list[str] = field(default_factory=list)
    output: str = ""

    def path(self, name: str) -> str:
        return str(self.folder / name)


def rough_run(folder: Path, lake: Path) -> RoughRun:
    _rewrite(lake)
    found = RoughRun(lake, folder, bad_files(folder), counts(lake), folder / "plain")
    for name in (ODD_NAME, NO_TEXT_NAME):
        shutil.copy(B, folder / name)
    found.bad[found.path(NO_TEXT_NAME)] = "UTF-8"
    far_away(folder / "far_away.pcapng")
    poisoned(folder / "poisoned.pcapng")
    if IS_FULL:
        too_large(folder / "too_large.pcapng")
    names = sorted(os.listdir(folder))
    captures = [found.path(name) for name in names if ".pcap" in name]
    said, printed = io.StringIO(), io.StringIO()
    with redirect_stderr(said), redirect_stdout(printed):
        found.code = main(["pipeline", A, *captures, B, "--lake", str(lake)])
    found.complaints = said.getvalue().splitlines()
    found.output = printed.getvalue()
    shutil.copytree(lake, found.plain, symlinks=True)
    return found


def bad_files(folder: Path) -> dict[str, str]:
    whole = gzip.decompress(Path(B).read_bytes())
    noise = random.Random(7).randbytes(100_000)
    contents = {
        "letter.pcap": (b"Dear Sir or Madam,\n" * 20, "neither pcap nor pcapng"),
        "empty.pcap": (b"", "too short for a capture"),
        "noise.pcap": (PCAP_MAGIC + noise, ""),
        "cut.pcapng": (whole[: len(whole) // 2 + 1], ""),
        "cut.pcapng.gz": (Path(B).read_bytes()[:9_000], ""),
        "damaged.pcapng.gz": (Path(B).read_bytes()[:9_000] + noise[:3_000], ""),
    }
    for name, (content, _) in contents.items():
        (folder / name).write_bytes(content)
    (folder / "dangling.pcap").symlink_to(folder / "nowhere")
    found = {str(folder / name): cause for name, (_, cause) in contents.items()}
    found[str(folder / "dangling.pcap")] = "No such file or directory"
    return found


def _rewrite(lake: Path) -> None:
    """Rewrites all files as another writer would have, including the empty ones."""
    for table, column in LOST.items():
        for file in Store(lake).files(table):
            rows = pq.ParquetFile(file).read().drop_columns([column])
            extra = pa.array([7] * rows.num_rows, pa.int64())
            pq.write_table(rows.append_column(NEW, extra), file)
