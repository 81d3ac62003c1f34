"""The kinds of messages as numbers: the codes of the column `kind`.

The words are those of `wire.kinds`. A kernel has no message object, so this module defines how the
kind follows from the layout.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from zenlake.wire.definitions import LAYOUTS
from zenlake.wire.kinds import LINK_STATE_OAM_ID
from zenlake.wire.layout import BodyRow, Layout

BY_FLAG: Final = {"Init": ("A", "INIT_ACK", "INIT_SYN"), "Open": ("A", "OPEN_ACK", "OPEN_SYN")}
"""Messages with two kinds: the header flag that decides, the kind if it is set, and if not."""

BY_ID: Final = {"Oam": (LINK_STATE_OAM_ID, "OAM/LINKSTATE", "OAM")}
"""Messages whose kind depends on the message's id."""


def body_row(layout: Layout) -> BodyRow | None:
    """The row of a body that the kind depends on."""
    rows = [row for row in layout.rows if isinstance(row, BodyRow) and len(row.choices) > 1]
    return rows[0] if rows else None


def kinds_of(layout: Layout) -> tuple[str, ...]:
    """All kinds of one message."""
    if layout.class_name in BY_FLAG:
        return BY_FLAG[layout.class_name][1:]
    if layout.class_name in BY_ID:
        return BY_ID[layout.class_name][1:]
    row = body_row(layout)
    if row is None:
        return (layout.name,)
    bodies = [kind for choice in row.choices for kind in kinds_of(LAYOUTS[choice])]
    return tuple(f"{layout.name}/{kind}" for kind in bodies)


@cache
def kinds() -> tuple[str, ...]:
    """The word of every code; 0 is not a kind."""
    layers = ("scouting", "transport", "network")
    messages = [one for layer in layers for one in LAYOUTS.values() if one.layer == layer]
    return ("", *(kind for message in messages for kind in kinds_of(message)))


@cache
def network_kinds() -> tuple[str, ...]:
    """The kinds of network messages, whose codes are the highest."""
    messages = [one for one in LAYOUTS.values() if one.layer == "network"]
    return tuple(kind for message in messages for kind in kinds_of(message))


def path_of(layout: Layout) -> str:
    """The kind of a body up to its own name: `RESPONSE/REPLY` for REPLY."""
    for parent in LAYOUTS.values():
        row = body_row(parent)
        if row is not None and layout.class_name in row.choices:
            return f"{path_of(parent)}/{layout.name}"
    return layout.name
