"""Which files are meant: captures as given, and those in folders."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Final

from zenlake.lake.store import LakeError

CAPTURE_NAME: Final = re.compile(r".*\.(pcap|pcapng|cap)\d*(\.gz|\.zst)?", re.DOTALL)


def captures_in(paths: Iterable[str]) -> list[str]:
    """Each once, in the order given; of a folder all that are named like captures."""
    found: dict[str, None] = {}
    for path in paths:
        if path == "-":
            raise LakeError("standard input is read by several at once here: give a file")
        if os.path.isdir(path):
            inside = [os.path.join(path, name) for name in sorted(os.listdir(path))]
            chosen = [one for one in inside if os.path.isfile(one) and CAPTURE_NAME.fullmatch(one)]
            if not chosen:
                raise LakeError(f"no captures in {path}: none is named like *.pcap or *.pcapng")
            found.update(dict.fromkeys(chosen))
        else:
            found[path] = None
    return [*found]
