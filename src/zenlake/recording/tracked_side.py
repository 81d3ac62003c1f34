"""Side: the state of one end of a link, from the messages that it sent."""

from __future__ import annotations

from zenlake.recording.tracked_items import UNKNOWN, Identity, Item
from zenlake.recording.tracked_lane import Lane
from zenlake.recording.tracked_topology import TrackedTopology
from zenlake.trace.links.units import PLAIN


class Side:
    """The state of one end of a link."""

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
        """Whether an interest has mode CURRENT, by its id."""
        self.lanes: dict[int, Lane] = {}
        self.shared_ids: dict[str, str | None] = {}
        """The key of the entity with id 0, by kind; None if there are several."""
        self.form = PLAIN
        self.initial_sn = UNKNOWN
        self.reuses = False
        """Whether this side undeclares aliases, so that their numbers may later mean other keys."""
        self.is_lossy = False
        self.is_initial_over = False
        """Whether D_FINAL with id 0 ended the initial declarations of a peer."""
        self.topology: TrackedTopology | None = None
        """The link states that this side announced, if any."""
