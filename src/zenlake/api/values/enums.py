"""The enumerations of the API: plain classes with constants, as eclipse-zenoh has them.

They are not `enum.Enum`: a constant has no `name` nor `value`, is equal only to itself (never
to its number), and `int()` gives the number, which is the one on the wire where there is one.
But type checkers see an `Enum`, as in eclipse-zenoh's stub. So they know all constants, and accept
a `match` over all of them as complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self, TypeVar, final

from zenlake.api.final_classes import NoConstructor, no_subclasses

if TYPE_CHECKING:
    from enum import Enum as _Base

    from zenlake.api.values.whatami_matcher import WhatAmIMatcher
else:
    _Base = NoConstructor

_C = TypeVar("_C", bound="Constant")


class Constant(_Base):
    """One constant of an enumeration: its number and its name."""

    __slots__ = ("_label", "_number")
    _number: int
    _label: str
    _all: ClassVar[dict[int, Constant]]

    @classmethod
    def from_number(cls, number: int) -> Self:
        """The constant with this number, as the wire has it."""
        constant = cls._all[number]
        assert isinstance(constant, cls)
        return constant

    def __int__(self) -> int:
        return self._number

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self._label}"

    # There is one object per constant, so identity is equality, also after copying.
    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[object, tuple[type, int]]:
        return _restore, (type(self), self._number)


def _restore(cls: type[Constant], number: int) -> Constant:
    return cls.from_number(number)


def _constants(cls: type[_C]) -> type[_C]:
    """Make constants of the numbers in a class; a repeated number is an alias."""
    cls._all = {}
    for name, number in list(vars(cls).items()):
        if name.isupper():
            if number not in cls._all:
                constant = cls._all[number] = object.__new__(cls)
                constant._number, constant._label = number, name
            setattr(cls, name, cls._all[number])
    return cls


@final
@no_subclasses
@_constants
class CongestionControl(Constant):
    """The treatment of a message when the queue of a link is full."""

    __slots__ = ()
    DROP = 0
    """The message may be dropped."""
    BLOCK = 1
    """The message waits until there is room."""
    BLOCK_FIRST = 2
    """The first one waits, others sent meanwhile are dropped."""
    DEFAULT = DROP


@final
@no_subclasses
@_constants
class ConsolidationMode(Constant):
    """How the replies for one key are reduced."""

    __slots__ = ()
    AUTO = 0
    """LATEST, or NONE for a query with a time range."""
    NONE = 1
    """All replies are delivered."""
    MONOTONIC = 2
    """Replies are delivered at once, except those older than one delivered before."""
    LATEST = 3
    """The newest reply of each key is delivered when the query ends."""
    DEFAULT = AUTO


@final
@no_subclasses
@_constants
class QueryTarget(Constant):
    """Which matching queryables get a query."""

    __slots__ = ()
    BEST_MATCHING = 0
    """One complete queryable if there is any, otherwise all."""
    ALL = 1
    ALL_COMPLETE = 2
    DEFAULT = BEST_MATCHING


@final
@no_subclasses
@_constants
class ReplyKeyExpr(Constant):
    """Which keys replies to a query may have."""

    __slots__ = ()
    ANY = 0
    MATCHING_QUERY = 1
    DEFAULT = MATCHING_QUERY


@final
@no_subclasses
@_constants
class Reliability(Constant):
    """Which channel of a transport a publisher uses."""

    __slots__ = ()
    BEST_EFFORT = 0
    RELIABLE = 1


@final
@no_subclasses
@_constants
class Locality(Constant):
    """Whether data may come from, or go to, this session, other nodes, or both."""

    __slots__ = ()
    SESSION_LOCAL = 0
    REMOTE = 1
    ANY = 2
    DEFAULT = ANY


@final
@no_subclasses
@_constants
class Priority(Constant):
    """The lane a message travels in; the lowest number is served first."""

    __slots__ = ()
    REAL_TIME = 1
    INTERACTIVE_HIGH = 2
    INTERACTIVE_LOW = 3
    DATA_HIGH = 4
    DATA = 5
    DATA_LOW = 6
    BACKGROUND = 7
    DEFAULT = DATA
    MIN = BACKGROUND
    MAX = REAL_TIME


@final
@no_subclasses
@_constants
class SampleKind(Constant):
    """Whether a sample is a value or the deletion of one."""

    __slots__ = ()
    PUT = 0
    DELETE = 1


@final
@no_subclasses
@_constants
class InterceptionPoint(Constant):
    """The point on its way at which a message was stamped."""

    __slots__ = ()
    SEND = 0
    ROUTE = 1
    RECEIVE = 2


@final
@no_subclasses
@_constants
class WhatAmI(Constant):
    """The role of a node; the number is its bit in a set of roles."""

    __slots__ = ()
    ROUTER = 1
    PEER = 2
    CLIENT = 4

    def __or__(self, other: WhatAmI | str) -> WhatAmIMatcher:
        """A matcher for both roles; the other role may be a text."""
        from zenlake.api.values.whatami_matcher import WhatAmIMatcher

        if isinstance(other, WhatAmI):
            other = str(other)
        elif other not in ("router", "peer", "client"):
            return NotImplemented
        return WhatAmIMatcher(f"{self}|{other}")

    def __str__(self) -> str:
        return self._label.lower()

    def __repr__(self) -> str:
        return self._label.capitalize()


# eclipse-zenoh has these two, though its stub lacks them. Publishers do not use this default of
# reliability (theirs is RELIABLE).
Priority.NUM = 7  # type: ignore[attr-defined]
Reliability.DEFAULT = Reliability.BEST_EFFORT  # type: ignore[attr-defined]
