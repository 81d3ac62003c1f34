"""Side: what one end of a link has sent."""

from __future__ import annotations

from typing import Final

from zenlake.recording.tracked_items import UNKNOWN, Identity, Item
from zenlake.recording.tracked_lane import Lane
from zenlake.recording.tracked_topology import TrackedTopology

PLAIN_FORM: Final = 0
COMPRESSED_FORM: Final = 1
LOW_LATENCY_FORM: Final = 2


class Side:
    """What one end of a link has sent."""

    __slots__ = (
        "aliases",
        "form",
        "initial_sn",
        "is_initial_over",
        "is_lossy",
        "items",
        "lanes",
        "modes",
        "reuses",
        "shared_ids",
        "topology",
    )

    def __init__(self) -> None:
        self.aliases: dict[int, Item] = {}
        self.items: dict[Identity, Item] = {}
        """Live declarations, open interests with their finals, open requests."""
        self.modes: dict[int, bool] = {}
        """By id, whether an interest has mode CURRENT."""
        self.lanes: dict[int, Lane] = {}
        self.shared_ids: dict[str, str | None] = {}
        """By kind, the key of the entity with id 0; None if there are several."""
        self.form = PLAIN_FORM
        self.initial_sn = UNKNOWN
        self.reuses = False
        """Whether it undeclares aliases, so that their numbers may stand for other keys later."""
        self.is_lossy = False
        self.is_initial_over = False
        """Whether D_FINAL with id 0 ended the initial declarations of a peer."""
        self.topology: TrackedTopology | None = None
        """The link states that it announced; None if it announced none."""
