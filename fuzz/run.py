"""Coverage-guided fuzzing: `make fuzz`, or `python fuzz/run.py --runs 1700000 network`.

Every target runs in a process of its own, two at a time, from the vectors and captures of the
tests as seeds. A finding is written to fuzz/findings and ends that target; `python fuzz/run.py
--replay FILE TARGET` runs it again. Corpora are kept in fuzz/corpus, where the next run continues.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

HERE = Path(__file__).parent
RUNS_DEFAULT = 200_000
INPUT_BYTES_MAX = 1024
FILE_BYTES_MAX = 4096
SLOW_INPUT_S = 5
MEMORY_MIB_MAX = 1024
FILES = ("pcap", "pcapng", "trace")
# A tenth of the runs: each reads a whole capture.
SLOW_TARGETS = ("trace", "packets")
# Functions that check the codec; their own coverage does not matter.
CHECKERS = [
    "zenlake.wire.define",
    "zenlake.wire.definitions",
    "zenlake.wire.layout",
    "zenlake.wire.walk",
    "zenlake.wire.walk.chain",
    "zenlake.wire.walk.functions",
    "zenlake.wire.walk.meaning",
    "zenlake.wire.walk.reader",
    "zenlake.wire.walk.span",
    "zenlake.wire.walk.writer",
]


def seeds(target: str) -> list[bytes]:
    """Initial inputs: the test vectors, or a few typical texts."""
    if target == "key_expression":
        texts = ("a/**\na/b", "a$*b/*\n*/@c", "[now(-1h)..now()]\n**", "a/${x:*}/b\nk?a=1;b")
        return [text.encode() for text in texts]
    sys.path.insert(0, str(HERE.parent))
    if target in FILES:
        from capture_targets import CAPTURES

        kind = "*.pcap*" if target == "trace" else f"*.{target}"
        files = (path.read_bytes() for path in sorted(CAPTURES.glob(kind)))
        return [content[:FILE_BYTES_MAX] for content in files if content[:2] != b"\x1f\x8b"]
    if target in ("tcp", "packets"):
        return [Random(number).randbytes(200) for number in range(20)]
    from tests.vectors import ALL, UNITS
    from zenlake.wire import Oam

    if target == "link_state":
        return [v.message.body for v in ALL if isinstance(v.message, Oam) and v.message.id == 1]
    return [vector.data for vector in (*ALL, *UNITS)]


def fuzz(target: str, runs: int) -> None:
    """Fuzzes one target in this process; does not return."""
    import atheris

    with atheris.instrument_imports(include=["zenlake"], exclude=CHECKERS):
        from targets import TARGETS
    corpus, findings = HERE / "corpus" / target, HERE / "findings"
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(exist_ok=True)
    for number, seed in enumerate(seeds(target)):
        (corpus / f"seed-{number:03}").write_bytes(seed)
    flags = [
        f"-runs={runs}",
        f"-max_len={FILE_BYTES_MAX if target in FILES else INPUT_BYTES_MAX}",
        f"-timeout={SLOW_INPUT_S}",
        f"-rss_limit_mb={MEMORY_MIB_MAX}",
        f"-artifact_prefix={findings}/{target}-",
        "-print_final_stats=1",
        str(corpus),
    ]
    atheris.Setup([sys.argv[0], *flags], TARGETS[target])
    atheris.Fuzz()


def fuzz_in_process(target: str, runs: int) -> bool:
    """Run one target and print its result in one line."""
    if target in SLOW_TARGETS:
        runs //= 10
    command = [sys.executable, __file__, "--inside", "--runs", str(runs), target]
    start = time.monotonic()
    result = subprocess.run(command, capture_output=True, text=True)
    output = result.stdout + result.stderr
    done = re.search(r"stat::number_of_executed_units: (\d+)", output)
    executed = int(done.group(1)) if done else 0
    memory = re.search(r"stat::peak_rss_mb: +(\d+)", output)
    seconds = time.monotonic() - start
    verdict = "ok" if result.returncode == 0 else "FOUND SOMETHING"
    print(
        f"{target:16} {executed:>12,} executions {executed / seconds:>9,.0f}/s"
        f" peak {memory.group(1) if memory else '?'} MiB  {verdict}",
        flush=True,
    )
    if result.returncode:
        print(output[-3000:])
    return result.returncode == 0


def main() -> int:
    sys.path.insert(0, str(HERE))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", help="which targets (default: all)")
    parser.add_argument("--runs", type=int, default=RUNS_DEFAULT, help="executions each")
    parser.add_argument("--replay", type=Path, help="run one input again, uninstrumented")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.inside:
        fuzz(args.targets[0], args.runs)
    from targets import TARGETS

    if args.replay:
        TARGETS[args.targets[0]](args.replay.read_bytes())
        return 0
    chosen = args.targets or list(TARGETS)
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda target: fuzz_in_process(target, args.runs), chosen))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
