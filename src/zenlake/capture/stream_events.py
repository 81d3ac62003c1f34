"""Stream events: the opening, bytes, gaps and end of the two directions of a TCP connection.

For each direction: opened, then bytes and gaps in the order of the stream, then closed.
"""

from __future__ import annotations


class Flow:
    """One TCP connection, named `A:p-B:q#n`.

    A is the side that sent the SYN, or whose segment came first. n counts the connections between
    the two addresses from 1; it is 0 for one that was open before the capture.
    """

    __slots__ = (
        "destination",
        "first_packet",
        "holes",
        "is_behind",
        "is_new",
        "name",
        "number",
        "reset_by",
        "reverse_text",
        "source",
        "text",
    )

    def __init__(
        self, source: str, destination: str, number: int, text: str, reverse_text: str
    ) -> None:
        self.source = source
        self.destination = destination
        self.number = number
        self.text = text
        """`A:p-B:q`, without the number."""
        self.reverse_text = reverse_text
        self.name = f"{text}#{number}"
        self.reset_by = 0
        """The direction of the RST that ended the connection."""
        self.holes = 0
        """The number of directions that hold bytes behind a hole."""
        self.is_behind = False
        """Whether a side acknowledged bytes that the capture lacks or has only later."""
        self.is_new = True
        """Whether the capture has shown only one segment of it so far."""
        self.first_packet = 0

    def __repr__(self) -> str:
        return f"Flow({self.name})"


class StreamEvent:
    """An event of one direction: 0 from the side that the name lists first, 1 to it."""

    __slots__ = ("direction", "flow")

    def __init__(self, flow: Flow, direction: int) -> None:
        self.flow = flow
        self.direction = direction


class StreamOpened(StreamEvent):
    """The first event of a direction. Without its SYN, earlier bytes may be missing."""

    __slots__ = ("seen_syn",)

    def __init__(self, flow: Flow, direction: int, seen_syn: bool) -> None:
        self.flow = flow
        self.direction = direction
        self.seen_syn = seen_syn

    def __repr__(self) -> str:
        return f"StreamOpened({self.flow.name}, {self.direction}, {self.seen_syn})"


class StreamBytes(StreamEvent):
    """The next bytes, and the packet that completed the stream from the last gap to their end."""

    __slots__ = ("data", "number", "time_ns")

    def __init__(self, flow: Flow, direction: int, data: bytes, number: int, time_ns: int) -> None:
        self.flow = flow
        self.direction = direction
        self.data = data
        self.number = number
        self.time_ns = time_ns

    def __repr__(self) -> str:
        size = len(self.data)
        return f"StreamBytes({self.flow.name}, {self.direction}, {size} bytes, {self.number})"


class StreamGap(StreamEvent):
    """Bytes that were sent and are not in the capture.

    `cause` is "missing" for packets that were not captured, "snaplen" for packets that were cut.
    `missing_bytes` is None if their number is not known. At the end of a stream the number is
    what the other side acknowledged, which may count a FIN as a byte.
    """

    __slots__ = ("cause", "missing_bytes")

    def __init__(self, flow: Flow, direction: int, missing_bytes: int | None, cause: str) -> None:
        self.flow = flow
        self.direction = direction
        self.missing_bytes = missing_bytes
        self.cause = cause

    def __repr__(self) -> str:
        name = self.flow.name
        return f"StreamGap({name}, {self.direction}, {self.missing_bytes}, {self.cause!r})"


class StreamClosed(StreamEvent):
    """The last event of a direction.

    `cause` is "fin", "rst", "reused" (by a new connection between the same addresses), "idle"
    (evicted by a limit) or "end" (of the capture).
    """

    __slots__ = ("cause",)

    def __init__(self, flow: Flow, direction: int, cause: str) -> None:
        self.flow = flow
        self.direction = direction
        self.cause = cause

    def __repr__(self) -> str:
        return f"StreamClosed({self.flow.name}, {self.direction}, {self.cause!r})"
