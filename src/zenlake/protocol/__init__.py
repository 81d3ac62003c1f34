"""One link and one session, without I/O: bytes and time go in, bytes and events come out.

This package handles messages of one link: no sockets, clocks, keys or routes.
"""

from __future__ import annotations
