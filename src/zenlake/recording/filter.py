"""BatchFilter: the recorder calls it for each batch before it writes any byte of the batch."""

from __future__ import annotations

from typing import Protocol


class LinkFilter(Protocol):
    """Removes keys or payloads from the batches of one link. The writer thread calls it."""

    def batch(self, direction: int, content: bytes, flags: int) -> tuple[bytes, int] | None:
        """The batch to record instead, and its flags.

        The result is empty if all messages are removed, and None if the batch cannot be decoded:
        then the recording has a gap. `content` is the batch as it crossed the link, without its
        length prefix; batches of the handshake are passed too.
        """

    def lost(self, direction: int, is_plain: bool) -> None:
        """Batches of a direction were lost here; `is_plain` if all had only publications."""

    def close(self) -> None:
        """No batch of this link follows."""


class BatchFilter(Protocol):
    """The rules of one recording."""

    @property
    def keeps_plain(self) -> bool:
        """Whether batches of publications never change: then they are not passed to the filter."""

    def link(self) -> LinkFilter:
        """The filter of a link that opens."""
