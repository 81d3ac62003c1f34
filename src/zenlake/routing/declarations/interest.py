"""Interests received from nodes below, and those sent to gateways because of them (§3.2)."""

from __future__ import annotations

from typing import Final

from zenlake.routing.declarations.entity import KINDS, QUERYABLE, SUBSCRIBER, TOKEN
from zenlake.routing.face import Face
from zenlake.routing.timers import Deadline
from zenlake.wire import Interest
from zenlake.wire.values.choices import InterestMode

KEYS_BIT: Final = 8
KIND_BITS: Final = (1 << SUBSCRIBER, 1 << QUERYABLE, 1 << TOKEN)
"""The bit of each kind in the options of an interest; KEYS_BIT is that of key aliases."""

_KINDS_BY_OPTIONS: Final = tuple(
    tuple(kind for kind in KINDS if options & KIND_BITS[kind]) for options in range(2 * KEYS_BIT)
)


class DownInterest:
    """An interest of a face below."""

    __slots__ = (
        "aggregate",
        "face",
        "id",
        "is_answered",
        "key",
        "mode",
        "number",
        "options",
        "pending",
        "up",
    )

    def __init__(
        self, face: Face, id: int, key: str, options: int, mode: InterestMode, aggregate: bool
    ) -> None:
        self.face = face
        self.id = id
        self.key = key
        """The key that it is restricted to, or ""."""

        self.options = options
        """Its options, of KIND_BITS and KEYS_BIT."""

        self.mode = mode
        self.number = 0
        """How many interests were registered up to this one; 0 before it is."""

        self.aggregate = aggregate
        """Whether one declaration on its own key stands for all that match (§3.6)."""

        self.pending: PendingAnswer | None = None
        """The answer that waits for gateways, None once it is complete."""

        self.is_answered = False
        """Whether everything known here was sent: D_FINAL may follow."""

        self.up: list[UpInterest] = []
        """The interests sent to gateways because of this one."""

    def kinds(self) -> tuple[int, ...]:
        """The kinds of declarations that it is about."""
        return _KINDS_BY_OPTIONS[self.options]

    def is_live(self) -> bool:
        """Whether the face is there and has not ended the interest."""
        return not self.face.is_gone and self.face.interests.get(self.id) is self


class UpInterest:
    """An interest that we sent to a face above, for one or more faces below."""

    __slots__ = ("face", "id", "is_final", "key", "mode", "options", "place", "users", "waiting")

    def __init__(self, face: Face, id: int, key: str, options: int, mode: InterestMode) -> None:
        self.face = face
        self.id = id
        self.key = key
        self.options = options
        self.mode = mode
        """The mode as sent; a gateway that connects later gets FUTURE as CURRENT_FUTURE."""

        self.place = (key, options, int(mode))
        """Its key in `Face.up_interests`, with the mode of the nodes below."""

        self.is_final = False
        """Whether D_FINAL came: the gateway has declared all that matches."""

        self.users: dict[DownInterest, None] = {}
        self.waiting: list[PendingAnswer] = []

    def kinds(self) -> tuple[int, ...]:
        """The kinds of declarations that it is about."""
        return _KINDS_BY_OPTIONS[self.options]


class PendingAnswer(Deadline):
    """The answer to a CURRENT interest, until the gateways have answered theirs."""

    __slots__ = ("answered_keys", "interest", "missing")

    def __init__(self, interest: DownInterest, deadline: float) -> None:
        super().__init__(deadline)
        self.interest = interest
        self.missing = 0
        """How many gateways have not answered."""

        self.answered_keys: set[str] = set()
        """Keys in the answer to a liveliness get, so that each is sent once."""


def options_of(message: Interest) -> int:
    options = KEYS_BIT if message.keyexprs else 0
    if message.subscribers:
        options |= 1 << SUBSCRIBER
    if message.queryables:
        options |= 1 << QUERYABLE
    if message.tokens:
        options |= 1 << TOKEN
    return options
