"""BatchFilter: what a recorder calls for each batch before anything of it reaches the disk."""

from __future__ import annotations

from typing import Protocol


class FilteredLink(Protocol):
    """What a filter knows of the link of a batch."""

    @property
    def number(self) -> int:
        """Counts the links of one recorder from 1; a number is not used again."""


class BatchFilter(Protocol):
    """Removes keys or payloads from batches. The recorder's writer thread calls it."""

    def batch(
        self, link: FilteredLink, direction: int, batch: bytes, is_low_latency: bool
    ) -> bytes | None:
        """The batch to record instead, or None to record nothing of it.

        A batch is given without its length prefix and decompressed; handshake batches come too.
        With `is_low_latency` it is one unit of network messages without frames. Direction 0 is
        from the side that opened the link. The answer is not longer than the batch.
        """

    def closed(self, link: FilteredLink) -> None:
        """No batch of this link follows."""
