"""Faults: one or more ways to break each rule."""

from tests.rules.faults import batches, declarations, handshakes, queries, scouting
from tests.rules.faults.fault import FAULTS, Fault

__all__ = ["FAULTS", "Fault", "batches", "declarations", "handshakes", "queries", "scouting"]
