"""A table of captures: messages found and counted, undecoded bytes, batches that encode otherwise.

    python -m tests.trace.capture_table tests/data/captures/*.pcap*

Beside a capture `NAME.pcapng` there may be a `NAME.json` with `wire_counts`.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from pathlib import Path

from tests.trace.batches import SAME, batches_of, reencoded
from zenlake import trace
from zenlake.trace import MessageSeen


def counted(path: Path) -> Counter[str] | None:
    """The counts of the sidecar, if it has any."""
    name = path.name.partition(".")[0]
    plain, packed = path.with_name(f"{name}.json"), path.with_name(f"{name}.json.gz")
    if plain.exists():
        content = json.loads(plain.read_bytes())
    elif packed.exists():
        content = json.loads(gzip.decompress(packed.read_bytes()))
    else:
        return None
    return Counter(content["wire_counts"]) if "wire_counts" in content else None


def listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{what} {count:,}" for what, count in sorted(counts.items())) or "none"


def difference(found: Counter[str], wanted: Counter[str] | None) -> str:
    if wanted is None:
        return "no counts"
    if found == wanted:
        return "equal"
    words = [f"+{count} {kind}" for kind, count in sorted((found - wanted).items())]
    return ", ".join(
        words + [f"-{count} {kind}" for kind, count in sorted((wanted - found).items())]
    )


def row(path: Path) -> str:
    events = trace.open(str(path))
    found = Counter(event.kind for event in events if isinstance(event, MessageSeen))
    wanted = counted(path)
    batches = Counter(reencoded(batch) for batch in batches_of(path))
    same = batches.pop(SAME, 0)
    cells = (
        path.name,
        f"{found.total():,}",
        "-" if wanted is None else f"{wanted.total():,}",
        difference(found, wanted),
        listed(events.undecoded),
        f"{same + batches.total():,}",
        listed(batches),
    )
    return f"| {' | '.join(cells)} |"


def main(paths: list[str]) -> int:
    if not paths:
        print("usage: python -m tests.trace.capture_table CAPTURE...", file=sys.stderr)
        return 2
    heads = ("capture", "messages", "sidecar's", "by kind", "undecoded bytes", "batches")
    print(f"| {' | '.join(heads)} | different bytes when encoded |")
    print("|---" * (len(heads) + 1) + "|")
    for path in paths:
        print(row(Path(path)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
