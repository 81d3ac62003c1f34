"""Runs pytest, and repeats the few tests that fail while others use the processors.

    python scripts/run_tests.py [arguments of pytest]

Tests with real nodes and with clocks may fail because six processes share two processors. A test
that fails is run once more, alone. The output names each of these tests, so that unstable tests
are noticed. A test that fails twice fails the run, and so do more than a few failures at once.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

_FAILED: Final = Path(".pytest_cache/v/cache/lastfailed")
_FAILURES: Final = 1
"""The exit code of pytest if tests failed; other codes are other problems."""
_AGAIN_MAX: Final = 5
_GROUP: Final = re.compile(r"@\w+$")
"""The suffix that pytest-xdist adds to the name of a test in a group."""


def main(arguments: list[str]) -> int:
    _FAILED.unlink(missing_ok=True)
    code = _pytest(arguments)
    if code != _FAILURES or not _FAILED.exists():
        return code
    failed = [_GROUP.sub("", name) for name in json.loads(_FAILED.read_text())]
    if len(failed) > _AGAIN_MAX:
        return code
    print(f"== {len(failed)} failed in parallel; once more, alone:", *failed, sep="\n   ")
    sys.stdout.flush()
    return _pytest(["-q", *failed])


def _pytest(arguments: list[str]) -> int:
    return subprocess.call([sys.executable, "-m", "pytest", *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
