"""The id of an entity, which rmw_zenoh attaches to every message that it sends.

It is the XXH3 hash, 128 bits, of the token's key (rmw_zenoh, `liveliness_utils`), so it leads from
an attachment to the token of the publisher.
"""

from __future__ import annotations

from zenlake.errors import LocalError


def gid_of(own_key: str) -> str:
    """The id in hex, in the byte order of the wire; `own_key` is the key without a prefix."""
    try:
        from xxhash import xxh3_128_intdigest
    except ImportError:
        message = "the ids of ROS entities need the extra: pip install 'zenlake[sql]'"
        raise LocalError(message) from None
    hashed = xxh3_128_intdigest(own_key.encode("utf-8", "surrogatepass"))
    return hashed.to_bytes(16, "little").hex()
