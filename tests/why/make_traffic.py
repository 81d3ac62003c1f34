"""Makes the captures of tests/data/why: python -m tests.why.make_traffic [NAME...]

Those of `real_traffic` and `real_networks` are recorded from eclipse-zenoh, so each run gives
other zids and times;
those of `made_traffic` are written by our encoder and always come out the same.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.why import made_traffic, real_networks, real_traffic

DATA = Path(__file__).parents[1] / "data" / "why"
_FIRST_PORT = 27_450


def main(names: list[str]) -> None:
    scenarios = [*real_traffic.SCENARIOS, *made_traffic.SCENES, *real_networks.SCENARIOS]
    for number, name in enumerate(scenarios):
        if names and name not in names:
            continue
        with TemporaryDirectory() as folder:
            plain = Path(folder) / "capture.pcapng"
            if name in made_traffic.SCENES:
                truth = made_traffic.write(name, plain)
            elif name in real_networks.SCENARIOS:
                truth = real_networks.record(name, plain)
            else:
                truth = real_traffic.record(name, plain, _FIRST_PORT + number)
            packed = gzip.compress(plain.read_bytes(), 9, mtime=0)
        (DATA / f"{name}.pcapng.gz").write_bytes(packed)
        (DATA / f"{name}.json").write_text(json.dumps(truth, indent=1) + "\n")
        print(f"{name}: {len(packed):,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
