"""The shapes that vectors are written in."""

from __future__ import annotations

from dataclasses import dataclass

from zenlake.wire import (
    Encoding,
    Layer,
    LinkStateList,
    Message,
    NetworkMessage,
    ScoutingMessage,
    Timestamp,
    ZenohId,
)


class Described:
    """Bytes in hexadecimal with a number and a meaning."""

    number: int | str
    hex: str
    meaning: str

    @property
    def data(self) -> bytes:
        return bytes.fromhex(self.hex)

    def __str__(self) -> str:
        return f"{self.number}: {self.meaning}"


@dataclass(frozen=True)
class Vector(Described):
    """One message and its bytes."""

    number: int | str
    hex: str
    meaning: str
    message: Message
    origin: str = "W"

    @property
    def layer(self) -> Layer:
        if isinstance(self.message, NetworkMessage):
            return "network"
        if isinstance(self.message, ScoutingMessage):
            return "scouting"
        return "transport"


@dataclass(frozen=True)
class Unit(Described):
    """What one transport unit carries: kind is batch, stream, cbatch or ll."""

    number: int | str
    kind: str
    hex: str
    meaning: str
    messages: tuple[Message, ...]
    origin: str = "W"


@dataclass(frozen=True)
class LinkStateVector(Described):
    """The body of a link-state OAM, whose number this is."""

    number: int | str
    hex: str
    meaning: str
    states: LinkStateList


@dataclass(frozen=True)
class ZintVector:
    number: int
    hex: str
    value: int
    origin: str = "D"


@dataclass(frozen=True)
class EncodingVector:
    hex: str
    text: str
    encoding: Encoding


@dataclass(frozen=True)
class TimestampVector:
    hex: str
    timestamp: Timestamp


@dataclass(frozen=True)
class NegativeVector(Described):
    """A batch content that a codec refuses, and where it must see the fault.

    `delivered` counts the messages that came whole before it.
    """

    number: str
    hex: str
    meaning: str
    message: str
    field: str
    offset: int
    cause: str
    delivered: int = 0


def derived(name: str, hex: str, meaning: str, message: Message) -> Vector:
    """A vector of our own."""
    return Vector(name, hex, meaning, message, "D")


def zid(text: str) -> ZenohId:
    return ZenohId.parse(text)
