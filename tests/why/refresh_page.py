"""Updates the output of commands in docs/why.md: `python -m tests.why.refresh_page`."""

from __future__ import annotations

import contextlib
import io
import re
import shlex

from tests.paths import DOCS
from zenlake.cli.main import main

PAGE = DOCS / "why.md"
_EXAMPLE = re.compile(r"(```\n\$ zenlake (why .*?)\n).*?(```)", re.DOTALL)


def _printed(example: re.Match[str]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        main(shlex.split(example[2]))
    return example[1] + out.getvalue() + example[3]


if __name__ == "__main__":
    PAGE.write_text(_EXAMPLE.sub(_printed, PAGE.read_text()))
