"""The handshake of a client over a plain socket."""

from __future__ import annotations

import socket

from zenlake.protocol.offer import Agreed, Offer
from zenlake.protocol.opening import Opener
from zenlake.wire.framing import StreamDeframer, frame_batch


def open_session(connection: socket.socket, offer: Offer) -> Agreed:
    opener, deframer = Opener(offer), StreamDeframer()
    connection.sendall(frame_batch(opener.start()))
    while opener.agreed is None:
        data = connection.recv(65_536)
        assert data, "the node closed the link"
        for batch in deframer.receive(data):
            if opener.agreed is None and (answer := opener.receive(batch)) is not None:
                connection.sendall(frame_batch(answer))
    return opener.agreed
