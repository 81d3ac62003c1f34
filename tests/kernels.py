"""Compiles the kernels of the lake and keeps them on disk: `python -m tests.kernels`.

That takes half a minute. Processes that begin at the same time would all do it.
"""

from __future__ import annotations

from pathlib import Path

from tests.lake.reading.gathered import on_both_roads
from zenlake.lake.bulk import Refusal, survey

CAPTURES = Path(__file__).parent / "data" / "captures"


def main() -> None:
    """One capture of each format: what takes long to compile is called."""
    for name in ("cooked_v1.pcap", "alias_remapped.pcapng"):
        path = str(CAPTURES / name)
        found = survey(path)
        assert not isinstance(found, Refusal)
        on_both_roads(path, found)


if __name__ == "__main__":
    main()
