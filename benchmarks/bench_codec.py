"""Time to decode and encode one message: generated and hand-inlined code, plain and compiled.

The message is PUSH with a suffix and QoS, PUT with timestamp and encoding, 51 bytes. Plain and
compiled code alternate in fresh processes, and the best of several rounds counts, so that a busy
machine slows all of them: compare the ratios.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parent.parent
MESSAGE = bytes.fromhex(
    "fd000b64656d6f2f6578616d2f31"  # PUSH, key demo/exam/1
    "210d"  # QoS: data, block
    "61a5ba96d299d9c0fc6a0550403020100a"  # PUT, timestamp, application/json
    "11" + "78" * 17
)
ROUNDS, CALLS = 25, 4_000


def best_ns(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Nanoseconds per call, in the best of several rounds; the functions alternate."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(CALLS):
                call()
            best[name] = min(best[name], (time.perf_counter() - start) / CALLS * 1e9)
    return best


def measure() -> dict[str, float | bool]:
    """All four figures in this process."""
    import hand_inlined

    from zenlake._compiled import is_compiled
    from zenlake.wire import decode_push

    push, end = decode_push(MESSAGE, 0)
    assert end == len(MESSAGE) == 51
    assert hand_inlined.decode(MESSAGE, 0) == (push, end)

    assert bytes(push) == hand_inlined.encode(push) == MESSAGE
    figures = best_ns(
        {
            "decode": lambda: decode_push(MESSAGE, 0),
            "decode_by_hand": lambda: hand_inlined.decode(MESSAGE, 0),
            "encode": lambda: bytes(push),
            "encode_by_hand": lambda: hand_inlined.encode(push),
        }
    )
    return {"compiled": is_compiled(), **figures}


def measure_in_process(plain: bool) -> dict[str, float]:
    environment = dict(os.environ)
    environment["PYTHONPATH"] = str(ROOT / "src") if plain else ""
    command = [sys.executable, __file__, "--measure"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    figures: dict[str, float] = json.loads(result.stdout)
    if figures.pop("compiled") == plain:
        sys.exit("run this with the interpreter of an environment where zenlake is compiled")
    return figures


def main() -> None:
    runs: dict[bool, list[dict[str, float]]] = {True: [], False: []}
    for _ in range(3):
        for plain in (True, False):
            runs[plain].append(measure_in_process(plain))
    plain_ns, compiled_ns = (
        {name: min(run[name] for run in runs[plain]) for name in runs[plain][0]}
        for plain in (True, False)
    )
    print(f"{'':8} {'by hand':>10} {'generated':>10} {'ratio':>7} {'compiled':>10} {'ratio':>7}")
    for name in ("decode", "encode"):
        hand, generated, compiled = plain_ns[f"{name}_by_hand"], plain_ns[name], compiled_ns[name]
        print(
            f"{name:8} {hand:7.0f} ns {generated:7.0f} ns {hand / generated:6.2f}x"
            f" {compiled:7.0f} ns {generated / compiled:6.2f}x"
        )


if __name__ == "__main__":
    if "--measure" in sys.argv:
        print(json.dumps(measure()))
    else:
        main()
