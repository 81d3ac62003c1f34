"""Handles errors of standard output: an error message in one line, and no partial file.

The shell has opened a redirected file (`> rows.csv`), so the file cannot be written under another
name and renamed. After an error, the output of the command is cut off, so that nobody takes a part
of it for the whole.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import sys
from typing import Final

NO_ROOM: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
"""Errors of a full disk, an exceeded quota or file size, and a failing disk."""


class StandardOutput:
    """Standard output; construct it before the first byte is written."""

    def __init__(self) -> None:
        # The caller closed standard output (`>&-`): discard the output.
        if sys.stdout is None:
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115  # until the process ends
        if sys.stderr is None:
            sys.stderr = open(os.devnull, "w")  # noqa: SIM115  # until the process ends
        self._begin = _file_end()

    def cut_off(self) -> None:
        """Cut off the output of this command, and discard what Python flushes at its end."""
        if self._begin is not None and self._is_ours():
            os.ftruncate(1, self._begin)
            os.lseek(1, self._begin, os.SEEK_SET)
        discard_output()

    def _is_ours(self) -> bool:
        """Whether no other process wrote after this one."""
        return os.lseek(1, 0, os.SEEK_CUR) == os.fstat(1).st_size


def discard_output() -> None:
    """Redirect standard output to the null device: Python flushes it at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def _file_end() -> int | None:
    """The offset of the next byte if standard output is a file; else None."""
    try:
        if not stat.S_ISREG(os.fstat(1).st_mode):
            return None
        is_appended = fcntl.fcntl(1, fcntl.F_GETFL) & os.O_APPEND
        return os.fstat(1).st_size if is_appended else os.lseek(1, 0, os.SEEK_CUR)
    except OSError:
        return None
