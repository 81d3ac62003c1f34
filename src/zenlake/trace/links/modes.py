"""Modes: the framings and forms that the units of a connection may have."""

from __future__ import annotations

from zenlake.trace.links.patterns import MODES
from zenlake.trace.links.units import LONG, LOW_LATENCY, PLAIN, SHORT, WEBSOCKET, form_of
from zenlake.wire import Init


class Modes:
    """What the handshake of a connection agreed, or what its units showed without a handshake."""

    __slots__ = ("agreed", "guessed", "is_handshake_over", "is_websocket")

    def __init__(self) -> None:
        self.agreed: tuple[int, int] | None = None
        """Framing and form after the handshake; None if the capture lacks INIT_ACK."""
        self.guessed: tuple[int, int] | None = None
        """Framing and form of units that were found without INIT_ACK."""
        self.is_handshake_over = False
        """Whether both directions have completed the handshake."""
        self.is_websocket = False

    def agree(self, ack: Init) -> None:
        form = form_of(ack)
        framing = LONG if form == LOW_LATENCY else SHORT
        self.agreed = (WEBSOCKET if self.is_websocket else framing, form)

    def possible(self, form: int) -> tuple[tuple[int, int], ...]:
        """The modes of units after a loss, in a direction that had this form."""
        if self.is_websocket:
            return ((WEBSOCKET, form),)
        if self.agreed is None:
            # Without INIT_ACK every mode is possible until one was found.
            return MODES if self.guessed is None else (self.guessed,)
        if self.is_handshake_over or self.agreed == (SHORT, PLAIN):
            return (self.agreed,)
        return (self.agreed, (SHORT, PLAIN))

    @property
    def is_low_latency(self) -> bool:
        mode = self.agreed or self.guessed
        return mode is not None and mode[1] == LOW_LATENCY
