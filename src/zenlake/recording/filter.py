"""BatchFilter: what a recorder calls for each batch before anything of it reaches the disk."""

from __future__ import annotations

from typing import Protocol


class LinkFilter(Protocol):
    """Removes keys or payloads from the batches of one link. The writer thread calls it."""

    def batch(self, direction: int, content: bytes, flags: int) -> tuple[bytes, int] | None:
        """The batch to record instead, and its flags.

        It is empty if all its messages are removed, and None if it cannot be decoded: then the
        recording has a gap. A batch is given without its length prefix, as it crossed the link;
        those of the handshake come too.
        """

    def lost(self, direction: int, is_plain: bool) -> None:
        """Batches of a direction were lost here; `is_plain` if all had only publications."""

    def close(self) -> None:
        """No batch of this link follows."""


class BatchFilter(Protocol):
    """The rules of one recording."""

    @property
    def keeps_plain(self) -> bool:
        """Whether batches of publications stay as they are: then they are not filtered."""

    def link(self) -> LinkFilter:
        """The filter of a link that opens."""
