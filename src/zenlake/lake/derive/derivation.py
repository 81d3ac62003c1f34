"""Derivation: tables that are made together, and those that this needs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Derivation:
    gives: frozenset[str]
    reads: frozenset[str]
    """Besides `captures`."""
