"""Derivation: tables that are made together, and the tables they are made from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Derivation:
    makes: frozenset[str]
    reads: frozenset[str]
    """Besides `captures`."""
