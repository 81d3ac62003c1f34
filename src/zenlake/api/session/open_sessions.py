"""The open sessions of this process, which are closed when the interpreter exits."""

from __future__ import annotations

import atexit
import contextlib
import weakref
from typing import TYPE_CHECKING

from zenlake.forks import reset_after_fork

if TYPE_CHECKING:
    from zenlake.api.session.session import Session


class OpenSessions:
    """A set of weak references: it does not keep sessions alive."""

    def __init__(self) -> None:
        self._sessions: weakref.WeakSet[Session] = weakref.WeakSet()
        self._is_registered = False

    def add(self, session: Session) -> None:
        self._sessions.add(session)
        if not self._is_registered:
            # Registered by the first session of each process, not at import: `multiprocessing`
            # clears all exit handlers in its children.
            self._is_registered = True
            atexit.register(self._close_all)

    def discard(self, session: Session) -> None:
        self._sessions.discard(session)

    def reset(self) -> None:
        """Forget the sessions of the parent, which a forked child must not close when it exits."""
        self._sessions = weakref.WeakSet()
        self._is_registered = False
        atexit.unregister(self._close_all)

    def _close_all(self) -> None:
        """Close all sessions properly before the interpreter ends."""
        for session in list(self._sessions):
            # An error in one must not keep the others open.
            with contextlib.suppress(Exception):
                session.close()


# Shared by all sessions, because the interpreter exits once.
open_sessions = OpenSessions()
reset_after_fork(open_sessions.reset)
