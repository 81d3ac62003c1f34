"""P09: noise on the port of Zenoh contains no regular pair and no session."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.capture.headers import ethernet, ipv4, tcp, udp
from tests.chance import IS_FULL
from tests.lake.fast_reader.mutations import store
from tests.trace.noise import PAYLOADS, conversation
from zenlake.capture.packet import Packet
from zenlake.capture.transport import Segment, UdpDatagram
from zenlake.lake import fast_reader
from zenlake.lake.merge.split import Split, Tables, read_split

PACKETS = 2_000_000 if IS_FULL else 20_000
FILE_PACKETS = 200_000
_ETHERNET = 1
_TCP, _UDP = 6, 17


def packet_of(content: Segment | UdpDatagram, number: int) -> Packet:
    source, _, from_port = content.ends.source.rpartition(":")
    destination, _, to_port = content.ends.destination.rpartition(":")
    ports = int(from_port), int(to_port)
    if isinstance(content, Segment):
        inner = tcp(content.payload, content.seq, content.ack, content.flags, ports)
        data = ipv4(inner, _TCP, source, destination)
    else:
        data = ipv4(udp(content.payload, ports), _UDP, source, destination)
    framed = ethernet(data)
    return Packet(number, number * 1_000_000, _ETHERNET, framed, len(framed))


def noise(seed: int, count: int) -> Iterator[Packet]:
    """Conversations of all kinds, one after another."""
    chance = random.Random(f"bulk {seed}")
    number = 0
    while number < count:
        payload = PAYLOADS[chance.choice([*PAYLOADS])]
        for content in conversation(chance, payload, 1, chance.choice((5, 20, 100, 400))):
            number += 1
            yield packet_of(content, number)


@pytest.mark.parametrize("seed", range(max(1, PACKETS // FILE_PACKETS)))
def test_noise_is_not_zenoh(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "noise.pcapng"
    store(path, [*noise(seed, min(PACKETS, FILE_PACKETS))])
    survey = fast_reader.survey(str(path))
    assert isinstance(survey, fast_reader.Survey)
    assert survey.packets >= min(PACKETS, FILE_PACKETS)
    assert len(survey) > 50
    assert not survey.regular.any()
    rows = dict.fromkeys(("sessions", "messages", "samples"), 0)

    def write(tables: Tables) -> None:
        for name in rows:
            rows[name] += sum(part.num_rows for part in tables.get(name, ()))

    read_split(Split(str(path), "noise", survey), write)
    assert not any(rows.values()), rows
