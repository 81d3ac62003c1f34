"""The lease in OPEN and JOIN: milliseconds, or seconds with the flag T (wire reference §5.7)."""

from __future__ import annotations


def lease_in_ms(lease: int, seconds: bool) -> int:
    return lease * 1000 if seconds else lease


def lease_fields(lease_ms: int) -> tuple[int, bool]:
    """The number to send and the flag T: seconds if it is a whole number of them."""
    return (lease_ms, False) if lease_ms % 1000 else (lease_ms // 1000, True)
