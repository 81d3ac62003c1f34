"""Attacks on a node, measured by two well-behaved clients: `python -m attacks.run`."""

from __future__ import annotations

from attacks import datagrams, declarations, handshakes, keys, queries, streams
from attacks.plan import ATTACKS as ALL

__all__ = ["ALL", "datagrams", "declarations", "handshakes", "keys", "queries", "streams"]
