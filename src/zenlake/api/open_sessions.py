"""The sessions that are open, which are closed when the interpreter exits."""

from __future__ import annotations

import atexit
import contextlib
import weakref
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from zenlake.api.session import Session

open_sessions: Final[weakref.WeakSet[Session]] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Say goodbye to the network before the interpreter goes."""
    for session in list(open_sessions):
        # One that cannot close must not keep the others from it.
        with contextlib.suppress(Exception):
            session.close()
