"""Standard output that cannot be written: one line about it, and no half file.

A file that the shell opened (`> rows.csv`) cannot be renamed or removed by us. What the command
wrote into it is cut off again, so that nobody takes a part for the whole.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import sys
from typing import Final

NO_ROOM: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
"""What the system says where a disk is full, a limit is reached, or the disk fails."""


class StandardOutput:
    """Made before the first byte is written."""

    def __init__(self) -> None:
        # Closed by who called us (`>&-`): what is printed goes nowhere.
        if sys.stdout is None:
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115  # until the process ends
        if sys.stderr is None:
            sys.stderr = open(os.devnull, "w")  # noqa: SIM115  # until the process ends
        self._begin = _file_end()

    def give_up(self) -> None:
        """Cut off what was written, and write nothing more: Python flushes at its end."""
        if self._begin is not None and self._is_ours():
            os.ftruncate(1, self._begin)
            os.lseek(1, self._begin, os.SEEK_SET)
        write_nowhere()

    def _is_ours(self) -> bool:
        """Whether nobody else wrote after us."""
        return os.lseek(1, 0, os.SEEK_CUR) == os.fstat(1).st_size


def write_nowhere() -> None:
    """Keep Python from complaining when it flushes at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def _file_end() -> int | None:
    """Where in a file the first byte will be written; None where it is no file."""
    try:
        if not stat.S_ISREG(os.fstat(1).st_mode):
            return None
        is_appended = fcntl.fcntl(1, fcntl.F_GETFL) & os.O_APPEND
        return os.fstat(1).st_size if is_appended else os.lseek(1, 0, os.SEEK_CUR)
    except OSError:
        return None
