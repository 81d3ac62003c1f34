"""SocketErrors: temporary errors do not close a socket that must stay open.

A network that is down, a firewall rule or a lack of memory make calls fail for a while. The socket
works again afterwards, and a listener that closed it would not listen any more.
"""

from __future__ import annotations

import errno
import logging
import threading
import time
from typing import Final

from zenlake.warning_limiter import WarningLimiter

log = logging.getLogger("zenlake")

# The socket itself is broken: no later call can work.
_LASTING_ERRORS: Final = frozenset({errno.EBADF, errno.ENOTSOCK, errno.EINVAL, errno.EOPNOTSUPP})
# Lasting errors when sending: here EINVAL may concern only the address, such as port 0.
_LASTING_ERRORS_OF_SENDERS: Final = frozenset({errno.EBADF, errno.ENOTSOCK})
# Caused by one remote, on a socket that serves several. The next call may work at once.
_ERRORS_OF_A_REMOTE: Final = frozenset(
    {errno.ECONNABORTED, errno.ECONNREFUSED, errno.ECONNRESET, errno.EPIPE, errno.EMSGSIZE}
)
_FIRST_PAUSE_S: Final = 0.01
_PAUSE_S: Final = 1.0


class SocketErrors:
    """The errors of one socket: a pause that grows while they last, and one warning for all."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self._closed = threading.Event()
        self._pause_s = 0.0
        self._warnings = WarningLimiter()
        self._lock = threading.Lock()

    def retries(self, error: OSError, action: str) -> bool:
        """Whether to try again, after a pause in this call; False if the socket has failed."""
        if error.errno in _LASTING_ERRORS:
            return False
        if error.errno in _ERRORS_OF_A_REMOTE:
            return True
        if self._pause_s == 0.0:
            self._warn(error, f"cannot {action}, trying again")
        self._pause_s = min(max(2 * self._pause_s, _FIRST_PAUSE_S), _PAUSE_S)
        self._closed.wait(self._pause_s)
        return True

    def loses_datagram(self, error: OSError) -> bool:
        """Whether only the datagram is lost that was to be sent; False if the socket has failed."""
        if error.errno in _LASTING_ERRORS_OF_SENDERS:
            return False
        if error.errno not in _ERRORS_OF_A_REMOTE:
            self._warn(error, "cannot send, datagrams are lost")
        return True

    def _warn(self, error: OSError, consequence: str) -> None:
        with self._lock:
            more = self._warnings.admit(consequence, time.monotonic())
        if more is not None:
            log.warning("%s: %s: %s%s", self.endpoint, consequence, error, more)

    def clear(self) -> None:
        """Reset the pause after a successful call. Hot: called for each datagram."""
        if self._pause_s:
            self._pause_s = 0.0

    def close(self) -> None:
        """Make all pauses end now."""
        self._closed.set()
