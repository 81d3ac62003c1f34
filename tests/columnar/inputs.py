"""Units to compare decoders on: real ones, drawn ones, and mutations of both."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings

import zenlake.trace
from tests.columnar.comparison import Input
from tests.paths import CAPTURES
from tests.trace.batches import content_of
from tests.vectors import ALL, UNITS
from zenlake.columnar import BATCH, LOW_LATENCY, NETWORK, SCOUTING
from zenlake.errors import WireError
from zenlake.testing.strategies import message
from zenlake.trace.link import LinkBatch
from zenlake.wire import Message, encode
from zenlake.wire.batch import decode_low_latency
from zenlake.wire.compression import decompress_batch
from zenlake.wire.definitions import LAYOUTS

_FORMS = {"scouting": SCOUTING, "transport": BATCH, "network": NETWORK}


def capture_paths() -> list[Path]:
    return sorted(path for path in CAPTURES.iterdir() if ".pcap" in path.name)


def capture_inputs(path: Path) -> list[Input]:
    """The content of every batch in a capture."""
    return [input_of(batch) for batch in zenlake.trace.open(str(path)).batches()]


def input_of(batch: LinkBatch) -> Input:
    if batch.link.protocol == "scouting":
        return batch.data, SCOUTING
    if batch.messages and decode_low_latency(batch.data).messages == batch.messages:
        return batch.data, LOW_LATENCY
    try:
        return content_of(batch), BATCH
    except WireError:
        return batch.data, BATCH


def vector_inputs() -> list[Input]:
    found = [(vector.data, _FORMS[vector.layer]) for vector in ALL]
    for unit in UNITS:
        content = decompress_batch(unit.data) if unit.kind == "cbatch" else unit.data
        found.append((content, LOW_LATENCY if unit.kind == "ll" else BATCH))
    return found


def drawn_inputs(count: int) -> list[Input]:
    """About `count` messages of all kinds, drawn by Hypothesis; the same in every run."""
    names = [one.class_name for one in LAYOUTS.values() if one.layer in _FORMS]
    return [one for name in names for one in _drawn(name, max(count // len(names), 1))]


def _drawn(name: str, count: int) -> list[Input]:
    found: list[Input] = []

    @settings(
        max_examples=count,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(message(name))
    def draw(drawn: Message) -> None:
        found.append((encode(drawn), _FORMS[LAYOUTS[name].layer]))

    draw()
    return found


# --- mutation -----------------------------------------------------------------------------------


def mutated(seeds: list[Input], count: int, seed: int) -> Iterator[Input]:
    """Mutations of the seeds; the same for the same arguments."""
    source = random.Random(seed)
    for _ in range(count):
        content, form = source.choice(seeds)
        for _ in range(source.choice((1, 1, 1, 2, 4))):
            content = source.choice(_MUTATIONS)(content, source, seeds)
        if source.random() < 0.1:
            form = source.randrange(4)
        elif form == NETWORK:
            content, form = carried(content, source)
        yield content[:65_535], form


def carried(content: bytes, source: random.Random) -> Input:
    """A network message in a frame, in a low-latency unit, or alone."""
    match source.randrange(4):
        case 0:
            return content, NETWORK
        case 1:
            return content, LOW_LATENCY
    head = source.choice(("2507", "05ff03", "a5013105", "850131fb01"))
    return bytes.fromhex(head) + content, BATCH


def _flip(content: bytes, source: random.Random, seeds: list[Input]) -> bytes:
    if not content:
        return content
    at = source.randrange(len(content))
    return content[:at] + bytes([content[at] ^ 1 << source.randrange(8)]) + content[at + 1 :]


def _replace(content: bytes, source: random.Random, seeds: list[Input]) -> bytes:
    at = source.randrange(len(content) + 1)
    return content[:at] + source.randbytes(1) + content[at + 1 :]


def _cut(content: bytes, source: random.Random, seeds: list[Input]) -> bytes:
    return content[: source.randrange(len(content) + 1)]


def _remove(content: bytes, source: random.Random, seeds: list[Input]) -> bytes:
    at = source.randrange(len(content) + 1)
    return content[:at] + content[at + source.randrange(1, 5) :]


def _large_number(content: bytes, source: random.Random, seeds: list[Input]) -> bytes:
    """A variable-length integer of any size, above 2**63 too, in place of a byte."""
    size = source.randrange(1, 9)
    number = bytes(source.randrange(0x80, 0x100) for _ in range(size))
    at = source.randrange(len(content) + 1)
    return content[:at] + number + source.randbytes(1) + content[at + source.randrange(2) :]


def _splice(content: bytes, source: random.Random, seeds: list[Input]) -> bytes:
    other, _ = source.choice(seeds)
    at = source.randrange(len(content) + 1)
    return content[:at] + other[source.randrange(len(other) + 1) :]


def _follow(content: bytes, source: random.Random, seeds: list[Input]) -> bytes:
    return content + source.choice(seeds)[0]


def _repeat(content: bytes, source: random.Random, seeds: list[Input]) -> bytes:
    """Repeat a part, as with repeated extensions."""
    begin, end = sorted(source.randrange(len(content) + 1) for _ in range(2))
    return content[:end] + content[begin:end] + content[end:]


def _noise(content: bytes, source: random.Random, seeds: list[Input]) -> bytes:
    return source.randbytes(source.randrange(40))


def _same(content: bytes, source: random.Random, seeds: list[Input]) -> bytes:
    return content


_MUTATIONS = (
    *(_flip, _flip, _flip, _replace, _replace, _cut, _remove),
    *(_large_number, _large_number, _splice, _follow, _repeat, _noise, _same),
)
