# Parts: 613859768d740f72
"""Pairs: a row of numbers for each pair of ends, and a hash table by addresses and ports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from zenlake.capture.ip import address_text
from zenlake.capture.tcp_hole import UNKNOWN
from zenlake.columnar.jit import inlined
from zenlake.columnar.sip_hash import HashKey, begin_hash, feed_hash, random_key, slot_hash
from zenlake.lake.fast_reader.assemble.segment import HIGHER, KEY_WORDS, LOWER, PORTS
from zenlake.lake.fast_reader.scan.numbers import Numbers, uncounted_entry

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Fields of a pair. Where there are two, the second is for the higher end.
ROLE: Final = 0
REASON: Final = 1
FIRST_SIDE: Final = 2
"""The side that sent the SYN."""
PACKETS: Final = 3
BYTES: Final = 4
FIRST_PACKET: Final = 5
LAST_PACKET: Final = 6
FIRST_NS: Final = 7
LAST_NS: Final = 8
ENDED_NS: Final = 9
"""End of the first direction to end, 0 before."""
CLOSED_PACKET: Final = 10
CLOSED_NS: Final = 11
CAUSE: Final = 12
"""What ended the second direction."""
HAS_INIT: Final = 13
START: Final = 14
NEXT: Final = 16
END: Final = 18
ACKED: Final = 20
"""Sequence numbers of TCP; -1 is unknown, as in `capture.tcp_direction`."""
HAVE: Final = 22
"""Bytes of the batch in progress, its length included."""
SIZE: Final = 24
"""Its length, as far as the prefix was read."""
HEAD: Final = 26
TAIL: Final = 28
"""Its extents."""
WHOLE: Final = 30
"""Number of complete batches. Only the first two are counted: the handshake."""
FRAMING: Final = 32
"""How the batches of a direction are cut: one of `batches.SHORT`, `LONG` and `OVER`."""
LOW_LATENCY: Final = 34
"""Whether the handshake agreed on it."""
ENDED_PACKET: Final = 35
ENDED_CAUSE: Final = 36
ENDED_SIDE: Final = 37
"""What ended the first direction, and the side that sent it."""
HAS_DATA: Final = 38
"""In an index: the sides that sent data, one bit each, and `assemble_kernel.UNSURE`."""
STATE_WORDS: Final = 39

# What is done with the packets of a pair: nothing, batches, or left to the exact reader.
SKIP: Final = 0
ASSEMBLE: Final = 1
FORWARD: Final = 2

_FIRST_ROOM: Final = 1_024


class Pairs:
    """Rows of pairs, and their hash table with open addressing, at least half of it free."""

    __slots__ = ("count", "keys", "seed", "slots", "state")

    def __init__(self, room: int = _FIRST_ROOM) -> None:
        self.count = 0
        # A random seed, so that nobody can choose addresses that all fall into one slot.
        self.seed = random_key()
        self.keys = np.zeros((room, KEY_WORDS), np.int64)
        self.state = np.zeros((room, STATE_WORDS), np.int64)
        self.slots = np.zeros(_slots_for(room), np.int64)

    @property
    def room(self) -> int:
        return len(self.keys)

    def grow(self, most: int) -> None:
        """Doubles the room, up to `most`."""
        room = min(2 * self.room, most)
        more = room - self.room
        self.keys = np.vstack((self.keys, np.zeros((more, KEY_WORDS), np.int64)))
        self.state = np.vstack((self.state, np.zeros((more, STATE_WORDS), np.int64)))
        self.slots = np.zeros(_slots_for(room), np.int64)
        fill_slots(self.keys, self.slots, self.seed, self.count)

    @staticmethod
    def from_keys(keys: NDArray[np.int64]) -> Pairs:
        """A table of known pairs, in this order."""
        pairs = Pairs(len(keys) + 1)
        pairs.keys[: len(keys)] = keys
        pairs.count = len(keys)
        pairs.state[:, START:HAVE] = UNKNOWN
        fill_slots(pairs.keys, pairs.slots, pairs.seed, pairs.count)
        return pairs


def _slots_for(room: int) -> int:
    return 1 << (2 * room).bit_length()


def end_text(key: NDArray[np.int64], side: int) -> str:
    """`A:p` or `[A]:p`, like `capture.transport`."""
    ports = int(key[PORTS])
    port = ports & 0xFFFF if side else ports >> 16 & 0xFFFF
    first = HIGHER if side else LOWER
    words = 4 if ports >> 32 else 1
    address = b"".join(int(word).to_bytes(4, "big") for word in key[first : first + words])
    return f"[{address_text(address)}]:{port}" if words == 4 else f"{address_text(address)}:{port}"


@inlined
def slot_of(keys: Numbers, slots: Numbers, seed: HashKey, key: Numbers) -> int:
    """The slot of a key, or the free slot in which to insert it."""
    # Two words of an address (32 bits each) are hashed at once.
    state = feed_hash(begin_hash(seed), key[PORTS])
    for word in range(LOWER, KEY_WORDS, 2):
        state = feed_hash(state, key[word] << 32 ^ key[word + 1])
    slot: int = slot_hash(state) & (len(slots) - 1)
    while slots[slot]:
        pair = slots[slot] - 1
        is_same = True
        for word in range(KEY_WORDS):
            if keys[pair, word] != key[word]:
                is_same = False
                break
        if is_same:
            break
        slot = (slot + 1) & (len(slots) - 1)
    return slot


@uncounted_entry
def fill_slots(keys: Numbers, slots: Numbers, seed: HashKey, count: int) -> None:
    for pair in range(count):
        slots[slot_of(keys, slots, seed, keys[pair])] = pair + 1
