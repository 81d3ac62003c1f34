"""`FaceMap`: a dictionary by face that mostly has one entry, or none.

Most entities are held by one face, and a neighbour may declare 100,000 of them. Python's garbage
collector visits every dictionary that holds objects such as faces, and stops all threads meanwhile.
So a single entry needs no dictionary, and the collector does not track the map itself.

The price: `Dispatcher.close` must clear the maps, since the collector does not find cycles that
lead through them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from zenlake._mypyc import mypyc_attr

if TYPE_CHECKING:
    from zenlake.routing.face import Face


@mypyc_attr(acyclic=True)
class FaceMap:
    """Keeps its entries in the order in which they were added.

    The compiler knows no generic classes of this kind: those that derive from it say what the
    values are, which are never None.
    """

    __slots__ = ("_face", "_many", "_value")

    def __init__(self) -> None:
        self._face: Face | None = None
        self._value: object | None = None
        self._many: dict[Face, object] | None = None  # all entries, since there were two

    def __len__(self) -> int:
        if self._many is not None:
            return len(self._many)
        return 0 if self._face is None else 1

    def __contains__(self, face: object) -> bool:
        if self._many is not None:
            return face in self._many
        return face is self._face

    def __iter__(self) -> Iterator[Face]:
        return iter(self.faces())

    def each(self) -> Iterable[Face]:
        """The faces, for a loop that changes nothing: a copy takes long where they are many."""
        if self._many is not None:
            return self._many
        return () if self._face is None else (self._face,)

    def faces(self) -> list[Face]:
        """A copy, for a loop that may change the map."""
        if self._many is not None:
            return list(self._many)
        return [] if self._face is None else [self._face]

    def value(self, face: Face) -> object | None:
        if self._many is not None:
            return self._many.get(face)
        return self._value if face is self._face else None

    def put(self, face: Face, value: object) -> None:
        if self._many is not None:
            self._many[face] = value
        elif self._face is None or self._face is face:
            self._face = face
            self._value = value
        else:
            self._many = {self._face: self._value, face: value}
            self._face = None
            self._value = None

    def __delitem__(self, face: Face) -> None:
        if self._many is not None:
            del self._many[face]
            if not self._many:
                self._many = None
        elif face is self._face:
            self._face = None
            self._value = None
        else:
            raise KeyError(face)

    def clear(self) -> None:
        self._face = None
        self._value = None
        self._many = None
