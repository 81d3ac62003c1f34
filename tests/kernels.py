"""Compiles the kernels of the lake and keeps them on disk: `python -m tests.kernels`.

That takes half a minute. Without it, parallel test processes would all compile them.
"""

from __future__ import annotations

from multiprocessing import get_context

import numpy as np

from tests.lake.merge.both_readers import read_by_both_readers
from tests.paths import CAPTURES
from zenlake.columnar import decode
from zenlake.lake.derive.publications.hash_kernel import hash_values
from zenlake.lake.fast_reader import Refusal, survey
from zenlake.lake.fast_reader.assemble.capture_pass import CapturePass
from zenlake.lake.fast_reader.assemble.pairs import Pairs
from zenlake.lake.fast_reader.scan.capture_file import scan_of
from zenlake.lake.fast_reader.scan.file_window import open_window

PATHS = [str(CAPTURES / name) for name in ("cooked_v1.pcap", "alias_remapped.pcapng")]
"""One capture of each format: reading them calls all kernels that take long to compile."""
KEEP_ALIVE = b"\x04"


def main() -> None:
    """The decoder needs two thirds of the time, so a separate process compiles it."""
    decoder = get_context("spawn").Process(target=decode, args=(KEEP_ALIVE, [0, 1]))
    decoder.start()
    hash_values(np.zeros(8, np.uint8), np.zeros(2, np.int32), (0, 0), False)
    for path in PATHS:
        read_without_decoder(path)
    decoder.join()
    assert decoder.exitcode == 0
    for path in PATHS:
        found = survey(path)
        assert not isinstance(found, Refusal)
        read_by_both_readers(path, found)


def read_without_decoder(path: str) -> None:
    with open_window(path) as window:
        scan = scan_of(window)
        assert not isinstance(scan, Refusal)
        capture_pass = CapturePass(window, scan, Pairs())
        capture_pass.begin_chunk()
        while capture_pass.read_packets():
            capture_pass.begin_chunk()


if __name__ == "__main__":
    main()
