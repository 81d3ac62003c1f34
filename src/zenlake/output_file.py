"""A file that appears whole or not at all, also on a full disk and when Ctrl-C ends the command.

It is written under a temporary name in the same folder and renamed when it is complete. Until
then a file that had the name before stays as it is.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final

from zenlake import exit_cleanups
from zenlake.errors import LocalError

_numbers: Final = count()


class OutputFile:
    """Use it in a `with`: the file is renamed if the block ends without an exception.

    `write` takes bytes. A library that wants a path writes to `partial` instead, inside
    `with write_errors(output.path):`, which reports its errors as errors of this file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        # The target of a symbolic link is replaced, not the link.
        self._target = os.path.realpath(self.path)
        self._is_special = os.path.exists(self._target) and not os.path.isfile(self._target)
        # A device or a pipe cannot be replaced: it is written as it is.
        self.partial = Path(self._target if self._is_special else _temporary(self._target))
        self._file: BinaryIO | None = None
        self._cleanup = -1 if self._is_special else exit_cleanups.register(self._remove)
        try:
            with write_errors(self.path):
                self._check_may_replace()
                self._file = open(self.partial, "wb")  # noqa: SIM115  # until `commit`
        except BaseException:
            self.discard()  # Ctrl-C may come when the file is there already
            raise

    def __enter__(self) -> OutputFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.commit()
        else:
            self.discard()

    def write(self, data: bytes) -> int:
        assert self._file is not None, "write after commit or discard"
        try:
            return self._file.write(data)
        except OSError as error:
            raise _write_error(self.path, error) from None

    def commit(self) -> None:
        """Flush the file to the disk and give it its name."""
        try:
            with write_errors(self.path):
                self._close(is_flushed=not self._is_special)
                if not self._is_special:
                    self._keep_mode()
                    os.replace(self.partial, self._target)
        except BaseException:
            self.discard()
            raise
        exit_cleanups.forget(self._cleanup)

    def discard(self) -> None:
        """Remove the temporary file."""
        with suppress(OSError):  # what could not be written is removed in any case
            self._close(is_flushed=False)
        if not self._is_special:
            self._remove()
        exit_cleanups.forget(self._cleanup)

    def _close(self, is_flushed: bool) -> None:
        file, self._file = self._file, None
        if file is None:
            return
        try:
            if is_flushed:
                # Some file systems find out only now that there is no room.
                file.flush()
                os.fsync(file.fileno())
        finally:
            file.close()

    def _check_may_replace(self) -> None:
        """Renaming needs no right to write the file that is there; its owner expects it to."""
        try:
            os.stat(self._target)
        except FileNotFoundError:
            return
        if not os.access(self._target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    def _keep_mode(self) -> None:
        """A file that is replaced keeps its permissions."""
        if os.path.exists(self._target):
            os.chmod(self.partial, stat.S_IMODE(os.stat(self._target).st_mode))

    def _remove(self) -> None:
        self.partial.unlink(missing_ok=True)


def _temporary(path: str) -> str:
    """A name in the same folder; not made of the file's own, which may be as long as is allowed."""
    return os.path.join(os.path.dirname(path), f".zenlake-{os.getpid()}-{next(_numbers)}.part")


@contextmanager
def write_errors(path: str) -> Iterator[None]:
    """Turns an OSError into a LocalError with the name of the file."""
    try:
        yield
    except OSError as error:
        raise _write_error(path, error) from None


def _write_error(path: str, error: OSError) -> LocalError:
    cause = error.strerror or " ".join(str(error).split())
    return LocalError(f"{path} cannot be written: {cause}")
