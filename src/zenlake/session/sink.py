"""Where samples, replies, queries and statuses go: the user's end of an entity.

The session pushes under the node's lock, so a push never blocks and never runs the user's
code. What it cannot do there, waiting for room or calling a callback, it does in `after_unlock`,
which the thread that pushed calls after it released the lock.
"""

from __future__ import annotations

from collections.abc import Callable

from zenlake._mypyc import mypyc_attr


@mypyc_attr(allow_interpreted_subclasses=True)
class Sink:
    """Receives items in order. Channels and callbacks are subclasses."""

    __slots__ = ()

    def push(self, item: object) -> None:
        """Receive one item; under the lock."""
        raise NotImplementedError

    def push_all(self, items: list[object], size: int) -> None:
        """Receive several items that arrived together, with their bytes; under the lock."""
        for item in items:
            self.push(item)

    def count_in(self, counters: dict[str, int]) -> None:
        """Set where dropped items are counted; called before the first item."""

    def after_unlock(self) -> None:
        """Wait until there is room again, or run direct callbacks; called without the lock."""

    def is_quick(self) -> bool:
        """Whether the reader of a link may call `run_on_reader` before `after_unlock`."""
        return False

    def run_on_reader(self) -> None:
        """Call the callback for queued items, unless another thread does; see `handed_over`."""

    def handed_over(self) -> None:
        """The callback in `run_on_reader` takes long; its thread does not read the link again."""

    def on_end(self, ended: Callable[[], None]) -> bool:
        """Call `ended` after the last callback; False if there are no callbacks."""
        return False

    def discard(self) -> None:
        """Drop queued items; a running callback continues."""

    def wait_for_callback(self) -> None:
        """Wait until no callback runs, except the calling one."""

    def leave_to_parent(self, text: str) -> None:
        """Call no callback in a forked child; readers get an error with this text."""

    def close(self) -> None:
        """No more items follow. Called with the lock held, perhaps more than once."""
