"""Descriptions of the lost messages that `zenlake router explain` shows, by their cause."""

from __future__ import annotations

from typing import Final

LOST_OUTWARD: Final = {
    "dropped_messages": ("message", "for it dropped: its queue was full"),
    "unsendable_messages": ("message", "too long for its low-latency link, or after its end"),
    "dropped_datagrams": ("datagram", "for it refused by the system"),
}
LOST_INWARD: Final = {
    "stale_frames": ("frame", "dropped: late or repeated"),
    "dropped_fragments": ("fragment", "dropped: of no message that could be completed"),
    "unfinished_messages": ("message", "given up: too large, out of order, or without an end"),
    "ignored_messages": ("message", "ignored: unreadable, or out of place"),
}
REFUSED: Final = {
    "refused_declarations": ("declaration", "beyond its limits"),
    "refused_aliases": ("alias", "of keys, beyond its limits"),
    "refused_interests": ("interest", "beyond its limits"),
    "refused_link_states": ("node or link", "of the network, beyond its limits"),
    "invalid_keys": ("message", "with an invalid key"),
    "unknown_aliases": ("message", "with an alias that was not declared"),
    "unknown_nodes": ("message", "of a tree that was not announced"),
    "future_timestamps": ("publication", "with a timestamp in the future, replaced or dropped"),
    "refused_requests": ("query", "beyond its limits"),
}
_PLURALS: Final = {"alias": "aliases", "node or link": "nodes or links", "query": "queries"}


def losses_in_words(counts: dict[str, int], words: dict[str, tuple[str, str]]) -> list[str]:
    """A cause without a description is shown by its name: the router may be newer."""
    shown: list[str] = []
    for cause, count in counts.items():
        if cause not in words:
            shown.append(f"{count:,} {cause}")
            continue
        noun, reason = words[cause]
        if count != 1:
            noun = _PLURALS.get(noun, f"{noun}s")
        shown.append(f"{count:,} {noun} {reason}")
    return shown
