"""Mutations: captures with small changes, in their bytes or in their packets."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from zenlake.capture.files import packets
from zenlake.capture.packet import Packet, Skipped
from zenlake.capture.pcapng_writer import PcapngWriter

_HEADERS_BYTES = 80
"""The approximate size of the headers of a packet."""


def mutated_bytes(content: bytes, chance: random.Random) -> bytes:
    """Changes a few bytes of a file, or cuts off its end."""
    changed = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.randrange(len(changed))
        if chance.random() < 0.2:
            at = min(at, chance.randrange(400))
        changed[at] = chance.choice((changed[at] ^ 1 << chance.randrange(8), chance.randrange(256)))
    if chance.random() < 0.2:
        del changed[chance.randrange(1, len(changed)) :]
    return bytes(changed)


def mutated_packets(whole: list[Packet], chance: random.Random) -> list[Packet]:
    """Drops, repeats, moves or cuts packets, or changes their headers."""
    found = list(whole)
    for _ in range(chance.choice((1, 1, 2, 5))):
        if len(found) < 2:
            break
        at = chance.randrange(len(found))
        match chance.randrange(7):
            case 0:
                del found[at]
            case 1:
                found.insert(min(at + chance.randrange(5), len(found)), found[at])
            case 2:
                other = min(at + chance.randrange(4), len(found) - 1)
                found[at], found[other] = found[other], found[at]
            case 3:
                size = chance.randrange(len(found[at].data) + 1)
                found[at] = _with(found[at], found[at].data[:size])
            case 4 | 5:
                data = bytearray(found[at].data)
                for _ in range(chance.choice((1, 1, 2))):
                    place = chance.randrange(min(len(data), _HEADERS_BYTES) or 1)
                    if data:
                        data[place] ^= 1 << chance.randrange(8)
                found[at] = _with(found[at], bytes(data))
            case 6:
                del found[chance.randrange(1, len(found)) :]
    return found


def mutations(original: Path, path: Path, count: int) -> Iterator[tuple[int, random.Random]]:
    """Writes mutations to `path`, one of the packets, the next of the bytes; yields their seeds."""
    content, whole = original.read_bytes(), load(original)
    for seed in range(count):
        chance = random.Random(seed)
        if seed % 2:
            path.write_bytes(mutated_bytes(content, chance))
        else:
            store(path, mutated_packets(whole, chance))
        yield seed, chance


def _with(packet: Packet, data: bytes) -> Packet:
    return Packet(
        packet.number,
        packet.time_ns,
        packet.link_type,
        data,
        max(packet.original_bytes, len(data)),
        packet.interface,
    )


def load(path: Path) -> list[Packet]:
    return list(packets([str(path)], Skipped()))


def store(path: Path, packets: list[Packet]) -> None:
    with path.open("wb") as file:
        writer = PcapngWriter(file)
        for packet in packets:
            writer.write(packet)
