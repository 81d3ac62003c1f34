"""Safety in forked child processes: what they must not use of their parent.

A child has copies of the parent's objects and sockets, but only the thread that forked. A lock
that another thread held stays locked for ever, and whatever the child writes to an inherited
socket corrupts the parent's connection. So in the child, before anything else runs, inherited
sockets are closed (without `shutdown`, which would end the connection for the parent too),
inherited nodes and sessions raise `InheritedError` when they are used, and module state starts
anew. No lock of the parent is taken for that.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import weakref
from collections.abc import Callable
from typing import Final, NoReturn, Protocol

from zenlake.errors import ZError

_log: Final = logging.getLogger("zenlake")


class InheritedError(ZError):
    """A session of the parent process was used in a forked child."""


class Inheritable(Protocol):
    """An object that a child process must not use."""

    def leave_to_parent(self) -> None:
        """Do nothing from now on. Called in the child; it must not wait or take a lock."""


class InheritedLock:
    """Replaces a lock in the child: `acquire` raises `InheritedError`."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        raise InheritedError(_text)

    def release(self) -> None:
        """The thread that forked may have held the lock."""

    def _is_owned(self) -> bool:
        return False

    def __enter__(self) -> NoReturn:
        raise InheritedError(_text)

    def __exit__(self, *_args: object) -> None:
        self.release()


_objects: weakref.WeakSet[Inheritable] = weakref.WeakSet()
_sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()
_resets: Final[list[Callable[[], object]]] = []
_pid = os.getpid()
_text = ""


def leave_to_parent_after_fork(one: Inheritable) -> None:
    """Call `one.leave_to_parent` in every child forked from now on."""
    _objects.add(one)


def close_after_fork(one: socket.socket) -> None:
    """Close this process's copy of a socket in every child forked from now on."""
    _sockets.add(one)


def reset_after_fork(reset: Callable[[], object]) -> None:
    """Call `reset` in every child, for the state of a module."""
    _resets.append(reset)


def inherited_text() -> str:
    """Why an inherited session cannot be used, for errors."""
    return _text


def _after_fork_in_child() -> None:
    global _objects, _pid, _sockets, _text
    parent, _pid = _pid, os.getpid()
    _text = (
        f"this session belongs to process {parent} and cannot be used in its forked child"
        f" {_pid}: open another session in the child"
    )
    sockets, _sockets = _sockets, weakref.WeakSet()
    objects, _objects = _objects, weakref.WeakSet()
    for one in list(sockets):
        with contextlib.suppress(OSError):
            descriptor = one.detach()
            if descriptor >= 0:
                os.close(descriptor)
    for reset in _resets:
        reset()
    for inherited in list(objects):
        try:
            inherited.leave_to_parent()
        except Exception:  # a thread that is gone may have left it half changed
            _log.debug("an inherited object was left as it is", exc_info=True)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
