"""Functions for both sides of a handshake (wire reference §5.1 to §5.3)."""

from __future__ import annotations

from zenlake.errors import WireError
from zenlake.protocol.errors import ended_by_peer, refusal
from zenlake.protocol.offer import BATCH_BYTES_MIN
from zenlake.wire import Close, CloseReason, Init, Open, Resolution, decode_transport
from zenlake.wire.defaults import DEFAULT_BATCH_BYTES, PROTOCOL_VERSION
from zenlake.wire.message import TransportMessage
from zenlake.wire.values.lease import lease_fields
from zenlake.wire.values.resolution import DEFAULT_RESOLUTION


def first_message(batch: bytes, is_acceptor: bool) -> TransportMessage:
    """The first message of a batch; others are not read during the handshake."""
    try:
        message = decode_transport(batch, 0)[0]
    except WireError as error:
        raise refusal(CloseReason.INVALID, str(error)) from None
    if isinstance(message, Close):
        raise ended_by_peer(message, is_echoed=is_acceptor)
    return message


def unexpected(message: TransportMessage, wanted: str) -> Exception:
    return refusal(CloseReason.INVALID, f"{message.NAME} came where {wanted} was expected")


def check_version(init: Init) -> None:
    """Check the version on both sides: there is only one. Deployed openers do not check it."""
    if init.version != PROTOCOL_VERSION:
        raise refusal(CloseReason.INVALID, f"version {init.version} is not {PROTOCOL_VERSION}")


def resolution_of(init: Init) -> Resolution:
    return DEFAULT_RESOLUTION if init.resolution is None else init.resolution


def smaller_resolution(one: Resolution, other: Resolution) -> Resolution:
    """The smaller of each of the two fields."""
    request_id = min(one.byte & 0x0C, other.byte & 0x0C)
    return Resolution(request_id | min(one.byte & 0x03, other.byte & 0x03))


def agree_batch_size(own: int, init: Init) -> int:
    """The smaller size; refused if no fragment would fit into a batch."""
    size = min(own, DEFAULT_BATCH_BYTES if init.batch_size is None else init.batch_size)
    if size < BATCH_BYTES_MIN:
        raise refusal(CloseReason.INVALID, f"batches of {size} bytes cannot carry anything")
    return size


def set_sizes(init: Init, resolution: Resolution, batch_size: int) -> None:
    """Set the sizes if they are not the defaults (flag S, wire reference §5.2)."""
    if resolution.byte != DEFAULT_RESOLUTION.byte or batch_size != DEFAULT_BATCH_BYTES:
        init.resolution = resolution
        init.batch_size = batch_size


def open_message(lease_ms: int, initial_sn: int) -> Open:
    lease, seconds = lease_fields(lease_ms)
    return Open(lease, initial_sn, seconds=seconds)


def check_initial_sn(message: Open, mask: int) -> None:
    if message.initial_sn & ~mask:
        cause = f"initial sequence number {message.initial_sn} is outside the agreed resolution"
        raise refusal(CloseReason.INVALID, cause)
